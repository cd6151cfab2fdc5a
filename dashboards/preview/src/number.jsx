import { getFieldDisplayValues } from '@grafana/data';
import { BigValue, VizRepeater } from '@grafana/ui';

export function number({ panel, frames, width, height, theme }) {
  const { options } = panel;
  const values = getFieldDisplayValues({
    fieldConfig: panel.fieldConfig, reduceOptions: options.reduceOptions, replaceVariables: (text) => text, theme, data: frames, sparkline: false, timeZone: 'utc',
  });
  return (
    <VizRepeater
      getValues={() => values} source={frames} width={width} height={height} orientation={options.orientation} autoGrid itemSpacing={3} renderCounter={0}
      renderValue={({ value, width: w, height: h, count }) => (
        <BigValue value={value.display} width={w} height={h} count={count} theme={theme} colorMode={options.colorMode}
          graphMode={options.graphMode} justifyMode={options.justifyMode} textMode={options.textMode} wideLayout={options.wideLayout} />
      )}
    />
  );
}
