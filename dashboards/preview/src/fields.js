// Gives frames what Grafana's panels get: transformations applied, and for every field its unit, colour, name and mappings.
import {
  applyFieldOverrides, cacheFieldDisplayNames, dataFrameFromJSON, displayNameOverrideProcessor, FieldConfigOptionsRegistry, identityOverrideProcessor,
  thresholdsOverrideProcessor, valueMappingsOverrideProcessor,
} from '@grafana/data';

// Grafana's core fills its registry of properties; npm's packages have none.
function registry(panel) {
  const processes = { displayName: displayNameOverrideProcessor, thresholds: thresholdsOverrideProcessor, mappings: valueMappingsOverrideProcessor };
  const item = (id, path, isCustom) => ({
    id, path, name: id, isCustom, process: processes[id] ?? identityOverrideProcessor, shouldApply: () => true,
    settings: { expandTemplateVars: true }, override: () => null, editor: () => null,
  });
  const standard = ['color', 'decimals', 'description', 'displayName', 'fieldMinMax', 'links', 'mappings', 'max', 'min', 'noValue', 'thresholds', 'unit'];
  const custom = new Set(Object.keys(panel.fieldConfig.defaults.custom ?? {}));
  for (const { properties } of panel.fieldConfig.overrides) {
    for (const { id } of properties) {
      if (id.startsWith('custom.')) custom.add(id.slice('custom.'.length));
    }
  }
  return new FieldConfigOptionsRegistry(() => [
    ...standard.map((id) => item(id, id, false)), ...[...custom].map((id) => item(`custom.${id}`, id, true)),
  ]);
}

// Of Grafana's variables the dashboards' fields use the labels only.
function replaceVariables(text, scoped) {
  return text.replace(/\$\{__field\.labels\.(\w+)\}/g, (_, label) => scoped?.__dataContext?.value.field.labels?.[label] ?? '');
}

// partitionByValues is a transformation of Grafana's core: a frame for each value of a field, which becomes a label.
function partition(frame, { fields: [by] }) {
  const key = frame.fields.find((field) => field.name === by);
  if (!key) return [frame];
  const rows = new Map();
  key.values.forEach((value, row) => rows.set(value, [...(rows.get(value) ?? []), row]));
  return [...rows].map(([value, of]) => ({
    ...frame, length: of.length,
    fields: frame.fields.filter((field) => field !== key).map((field) => ({
      ...field, config: { ...field.config }, labels: { [by]: value }, values: of.map((row) => field.values[row]),
    })),
  }));
}

export function prepared(panel, frames, theme) {
  let data = frames.map(dataFrameFromJSON);
  for (const { id, options } of panel.transformations ?? []) {
    if (id !== 'partitionByValues') throw new Error(`transformation ${id} is not known here`);
    data = data.flatMap((frame) => partition(frame, options));
  }
  const applied = applyFieldOverrides({
    data, fieldConfig: panel.fieldConfig, fieldConfigRegistry: registry(panel), replaceVariables, theme, timeZone: 'utc',
  });
  cacheFieldDisplayNames(applied); // colours by name are made of them
  return applied;
}

export function numbers(frame) {
  return frame.fields.filter((field) => field.type === 'number');
}

// A value as text with its unit.
export function shown(field, value) {
  const { prefix = '', text, suffix = '' } = field.display(value);
  return `${prefix}${text}${suffix}`;
}
