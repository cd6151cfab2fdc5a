// Lines over time are Grafana's own; those over steps are drawn here, as npm has no component for them.
import { fieldColorModeRegistry, getFieldDisplayName } from '@grafana/data';
import { TimeSeries, VizLegend } from '@grafana/ui';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { numbers, shown } from './fields';

const custom = {
  drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, gradientMode: 'none', showPoints: 'auto', pointSize: 5, spanNulls: false,
  axisPlacement: 'auto', axisLabel: '', axisColorMode: 'text', scaleDistribution: { type: 'linear' }, axisCenteredZero: false, barAlignment: 0,
  hideFrom: { legend: false, tooltip: false, viz: false }, stacking: { group: 'A', mode: 'none' }, thresholdsStyle: { mode: 'off' },
};

export function overTime({ panel, frames, width, height, range }) {
  const drawn = frames.map((frame) => ({
    ...frame,
    fields: frame.fields.filter(({ type }) => type === 'time' || type === 'number')
      .map((field) => ({ ...field, config: { ...field.config, custom: { ...custom, ...field.config.custom } } })),
  })).filter((frame) => frame.length && numbers(frame).length);
  if (!drawn.length) return <p>No data</p>;
  return <TimeSeries frames={drawn} structureRev={1} width={width} height={height} timeRange={range} timeZone="utc" legend={panel.options.legend} options={panel.options} />;
}

export function xy({ panel, frames, width, height, theme }) {
  const lines = frames.flatMap((frame) => {
    const [x, ...ys] = numbers(frame);
    return ys.map((y) => ({
      x, y, label: getFieldDisplayName(y, frame, frames),
      color: fieldColorModeRegistry.get(y.config.color.mode).getCalculator(y, theme)(0, 0),
    }));
  });
  if (!lines.length) return <p>No data</p>;
  const items = lines.map(({ label, color }) => ({ label, color, yAxis: 1 }));
  const rows = Math.ceil(lines.reduce((sum, { label }) => sum + 7 * label.length + 36, 0) / width);
  const legend = panel.options.legend.showLegend ? Math.min(height * 0.35, 22 * rows + 4) : 0; // Grafana's gets 35 % at most, and scrolls
  return (
    <div>
      <Chart lines={lines} width={width} height={height - legend} theme={theme} custom={panel.fieldConfig.defaults.custom} />
      <div style={{ height: legend, overflow: 'hidden' }}><VizLegend items={items} placement="bottom" displayMode="list" /></div>
    </div>
  );
}

function Chart({ lines, width, height, theme, custom: { show, scaleDistribution } }) {
  const at = useRef(null);
  useEffect(() => {
    const [{ x, y }] = lines;
    const grid = { stroke: theme.colors.border.weak, width: 1 };
    const axis = { stroke: theme.colors.text.primary, font: '12px sans-serif', grid, ticks: grid };
    const texts = (field) => (_, values) => values.map((value) => (value == null ? '' : shown(field, value)));
    const size = (_, values) => 26 + 7 * Math.max(0, ...(values ?? []).map((text) => text.length));
    const logarithmic = scaleDistribution?.type === 'log';
    const fixed = y.config.min !== undefined || y.config.max !== undefined;
    const plot = new uPlot({
      width, height, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false }, y: { distr: logarithmic ? 3 : 1, ...(fixed && { range: (u, min, max) => [y.config.min ?? min, y.config.max ?? max] }) } },
      axes: [{ ...axis, label: x.config.custom?.axisLabel, labelSize: 18, labelFont: '12px sans-serif', size: 26, values: texts(x) }, { ...axis, size, values: texts(y) }],
      series: [{}, ...lines.map(({ color }) => ({ stroke: color, width: show === 'points' ? 0 : 1, spanGaps: true, points: { show: show !== 'lines' ? true : undefined, size: 4 } }))],
    }, uPlot.join(lines.map((line) => [line.x.values, line.y.values.map((value) => (logarithmic && value <= 0 ? null : value))])), at.current);
    return () => plot.destroy();
  });
  return <div ref={at} />;
}
