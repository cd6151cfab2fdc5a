// A time axis and lanes: what heatmaps and state timelines share.
export const label = 190;

export function plane(range, width, height, count) {
  const [from, to] = [range.from.valueOf(), range.to.valueOf()];
  const laneHeight = (height - 20) / count;
  return { from, to, laneHeight, x: (time) => label + ((time - from) / (to - from)) * (width - label), y: (lane) => lane * laneHeight };
}

export function Axes({ at, names, height, theme }) {
  const step = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * 60000).find((ms) => (at.to - at.from) / ms <= 8);
  const ticks = [];
  for (let time = Math.ceil(at.from / step) * step; time < at.to; time += step) ticks.push(time);
  const every = Math.ceil(13 / at.laneHeight); // names that fit
  const style = { fontSize: 11, fill: theme.colors.text.primary };
  return (
    <g>
      {ticks.map((time) => <text key={time} x={at.x(time)} y={height - 5} textAnchor="middle" {...style}>{new Date(time).toISOString().slice(11, 16)}</text>)}
      {names.map((name, lane) => lane % every === 0 && <text key={lane} x={label - 6} y={at.y(lane) + at.laneHeight / 2 + 4} textAnchor="end" {...style}>{name.length > 32 ? `…${name.slice(-31)}` : name}</text>)}
    </g>
  );
}
