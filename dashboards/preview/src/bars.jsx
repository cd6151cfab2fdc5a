import { getFieldDisplayValues } from '@grafana/data';
import { BarGauge, VizRepeater } from '@grafana/ui';

export function bars({ panel, frames, width, height, theme }) {
  const { options } = panel;
  const values = getFieldDisplayValues({
    fieldConfig: panel.fieldConfig, reduceOptions: options.reduceOptions, replaceVariables: (text) => text, theme, data: frames, timeZone: 'utc',
  });
  return (
    <VizRepeater
      getValues={() => values} source={frames} width={width} height={height} orientation={options.orientation} renderCounter={0} itemSpacing={10}
      minVizWidth={options.minVizWidth} minVizHeight={options.minVizHeight} maxVizHeight={options.maxVizHeight}
      renderValue={({ value, width: w, height: h, orientation }) => (
        <BarGauge value={value.display} field={value.field} display={value.view?.getFieldDisplayProcessor(value.colIndex)} width={w} height={h}
          orientation={orientation} theme={theme} displayMode={options.displayMode} valueDisplayMode={options.valueMode}
          namePlacement={options.namePlacement} showUnfilled={options.showUnfilled} itemSpacing={10} />
      )}
    />
  );
}
