import { getActiveThreshold, getFieldDisplayName } from '@grafana/data';
import { VizLegend } from '@grafana/ui';
import { Axes, plane } from './axes';
import { numbers } from './fields';

// Grafana's state timeline, where it differs from what one would think: with mergeValues and colours by thresholds a number is
// shown as its threshold, whatever its mapping (issue 41075 of grafana/grafana); and a null that has a mapping is drawn.
function state(field, merge, theme) {
  const { color, mappings = [], thresholds } = field.config;
  const byThreshold = merge && color.mode === 'thresholds';
  const mappedNull = mappings.some(({ type, options }) => type === 'special' && options.match.startsWith('null'));
  return (value) => {
    if (value == null && !mappedNull) return undefined;
    if (value == null || !byThreshold) return field.display(value);
    const step = getActiveThreshold(value, thresholds.steps);
    return { text: `${step.value}+`, color: theme.visualization.getColorByName(step.color) };
  };
}

// Neighbours with the same text are one stretch. A cell lasts until the next row, or until the hole begins that insertNulls makes.
function stretches(time, field, shown, end) {
  const found = [], hole = field.config.custom?.insertNulls, span = field.config.custom?.spanNulls;
  field.values.forEach((value, row) => {
    const now = shown(value), last = found.at(-1);
    if (value == null && last && span && time[row] - last.seen < span) {
      last.until = time[row + 1] ?? end;
      return;
    }
    if (!now) return;
    const next = time[row + 1] ?? end, until = hole && next - time[row] > hole ? time[row] + hole : next;
    if (last && last.text === now.text && last.until === time[row]) Object.assign(last, { until, seen: time[row] });
    else found.push({ ...now, from: time[row], seen: time[row], until });
  });
  return found;
}

export function lanes({ panel, frames, width, height, range, theme }) {
  const [frame] = frames;
  if (!frame?.length) return <p>No data</p>;
  const time = frame.fields.find(({ type }) => type === 'time').values;
  const all = numbers(frame), page = all.slice(0, panel.options.perPage ?? all.length);
  const body = height - 46, at = plane(range, width, body, page.length), high = at.laneHeight * panel.options.rowHeight;
  const drawn = page.map((field) => stretches(time, field, state(field, panel.options.mergeValues, theme), at.to));
  const used = new Map(drawn.flat().map(({ text, color }) => [text, color]));
  return (
    <div>
      <svg width={width} height={body}>
        {drawn.map((row, i) => row.map(({ from, until, text, color }) => {
          const x = at.x(from), w = Math.max(0.5, at.x(until) - x);
          return (
            <g key={`${i} ${from}`}>
              <rect x={x} y={at.y(i)} width={w} height={high} fill={color} fillOpacity={0.7} />
              {w > text.length * 7 && high > 11 && <text x={x + 2} y={at.y(i) + high / 2 + 4} fontSize={11}>{text}</text>}
            </g>
          );
        }))}
        <Axes at={at} names={page.map((field) => getFieldDisplayName(field, frame, frames))} height={body} theme={theme} />
      </svg>
      <small>lanes 1 to {page.length} of {all.length}</small>
      <VizLegend placement="bottom" displayMode="list" items={[...used].map(([label, color]) => ({ label, color, yAxis: 1 }))} />
    </div>
  );
}
