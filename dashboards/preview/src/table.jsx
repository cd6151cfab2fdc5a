import { TableNG } from '@grafana/ui/unstable';

export function table({ panel, frames, width, height, range }) {
  const [frame] = frames;
  if (!frame?.length) return <p style={{ padding: 16 }}>No data</p>;
  // Grafana takes `hidden` of older dashboards for hideFrom when it loads them.
  const fields = frame.fields.map((field) => ({
    ...field, config: { ...field.config, custom: { ...field.config.custom, hideFrom: { viz: !!field.config.custom?.hidden } } },
  }));
  return (
    <TableNG data={{ ...frame, fields }} width={width} height={height} cellHeight={panel.options.cellHeight} noHeader={!panel.options.showHeader}
      timeRange={range} fieldConfig={panel.fieldConfig} structureRev={1} enableVirtualization={false} />
  );
}
