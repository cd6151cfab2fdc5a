import { getFieldDisplayName } from '@grafana/data';
import * as chromatic from 'd3-scale-chromatic';
import { Axes, label, plane } from './axes';
import { numbers, shown } from './fields';

export function heatmap({ panel, frames, width, height, range, theme }) {
  const [frame] = frames;
  if (!frame?.length) return <p>No data</p>;
  const fields = numbers(frame), time = frame.fields.find(({ type }) => type === 'time').values;
  const { scheme, reverse, min, max } = panel.options.color;
  const all = fields.flatMap(({ values }) => values.filter(Number.isFinite));
  const [least, most] = [min ?? Math.min(...all), max ?? Math.max(...all)];
  // Grafana turns the schemes that go from light to dark round on a dark theme only.
  const color = (value) => chromatic[`interpolate${scheme}`](Math.abs((reverse ? 1 : 0) - Math.min(1, Math.max(0, (value - least) / (most - least || 1)))));
  const body = height - 26, at = plane(range, width, body, fields.length);
  const gap = Math.min(...time.slice(1).map((t, i) => t - time[i]).filter((ms) => ms > 0));
  const wide = Math.max(1, at.x(at.from + gap) - label - 1);
  // Grafana counts rows from below.
  const lane = (i) => fields.length - 1 - i;
  return (
    <svg width={width} height={height}>
      {fields.map((field, i) => field.values.map((value, row) => Number.isFinite(value) && (
        <rect key={`${i} ${row}`} x={at.x(time[row])} y={at.y(lane(i))} width={wide} height={Math.max(1, at.laneHeight - 1)} fill={color(value)} />
      )))}
      <Axes at={at} names={fields.map((field) => getFieldDisplayName(field, frame, frames)).reverse()} height={body} theme={theme} />
      {[...Array(64).keys()].map((i) => <rect key={i} x={label + 3 * i} y={body + 6} width={3} height={8} fill={color(least + ((most - least) * i) / 63)} />)}
      <text x={label - 6} y={body + 15} textAnchor="end" fontSize={11}>{shown(fields[0], least)}</text><text x={label + 200} y={body + 15} fontSize={11}>{shown(fields[0], most)}</text>
    </svg>
  );
}
