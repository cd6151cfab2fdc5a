// The spans of one trace, by the time they began.
export function trace({ frames, width, height, theme }) {
  const [frame] = frames;
  if (!frame?.length) return <p>No data</p>;
  const column = (name) => frame.fields.find((field) => field.name === name).values;
  const [start, duration, name, service] = ['startTime', 'duration', 'operationName', 'serviceName'].map(column);
  const from = Math.min(...start), to = Math.max(...start.map((time, i) => time + duration[i]));
  const rows = [...start.keys()].sort((a, b) => start[a] - start[b] || duration[b] - duration[a]).slice(0, Math.floor(height / 18) - 1);
  const x = (time) => 260 + ((time - from) / (to - from)) * (width - 340);
  return (
    <svg width={width} height={height} fontSize={11} fill={theme.colors.text.primary}>
      {rows.map((i, row) => (
        <g key={i} transform={`translate(0 ${row * 18})`}>
          <text x={0} y={12}>{`${service[i]}: ${name[i]}`.slice(0, 44)}</text>
          <rect x={x(start[i])} y={2} width={Math.max(1, x(start[i] + duration[i]) - x(start[i]))} height={13} fill={theme.visualization.getColorByName('blue')} />
          <text x={x(start[i] + duration[i]) + 4} y={12}>{duration[i].toFixed(1)} ms</text>
        </g>
      ))}
      <text x={0} y={rows.length * 18 + 12}>{start.length} spans</text>
    </svg>
  );
}
