// What a dashboard file may hold, put together from Grafana's published types: @grafana/schema types a dashboard's panels
// loosely, and each kind of panel by itself. types_test.go checks every file against Board.
import type * as schema from '@grafana/schema';
import type * as bargauge from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import type * as heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as statetimeline from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as timeseries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type * as xychart from '@grafana/schema/dist/esm/raw/composable/xychart/panelcfg/x/XYChartPanelCfg_types.gen';

// In JSON an enum is its text: Json<T> is T with each string enum as the union of its texts.
type Json<T> = unknown extends T ? T
  : T extends string ? `${T}`
  : T extends number | boolean | null | undefined ? T
  : T extends object ? { [K in keyof T]: Json<T[K]> }
  : never;

type Field = Omit<schema.FieldConfig, 'custom'> & FieldGap;

// Grafana types the value of an override as any; what it overrides has a type.
type Override<Custom> =
  | { [K in keyof Field]-?: { id: K; value: Field[K] } }[keyof Field]
  | { [K in keyof Custom & string]-?: { id: `custom.${K}`; value: Custom[K] } }[keyof Custom & string];

type PanelOf<Type extends string, Options, Custom> = Omit<schema.Panel, 'type' | 'options' | 'fieldConfig'> & {
  type: Type;
  options: Options;
  fieldConfig: {
    defaults: Field & { custom?: Custom };
    overrides: Array<{ matcher: schema.MatcherConfig; properties: Array<Override<Custom>> }>;
  };
};

type Panel =
  | PanelOf<'bargauge', bargauge.Options, {}>
  | PanelOf<'heatmap', heatmap.Options, heatmap.FieldConfig>
  | PanelOf<'stat', stat.Options, {}>
  | PanelOf<'state-timeline', statetimeline.Options, statetimeline.FieldConfig & StateTimelineGap>
  | PanelOf<'table', table.Options, table.FieldConfig & TableGap>
  | PanelOf<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | PanelOf<'traces', {}, {}> // has no options, and therefore no types
  | PanelOf<'xychart', xychart.Options, xychart.FieldConfig>;

// What a data source is asked is its own affair; the gate in Go knows ClickHouse's.
type Annotation = Omit<schema.AnnotationQuery, 'target'> & { target: Record<string, unknown> };

export type Board = Json<Omit<schema.Dashboard, 'panels' | 'templating' | 'annotations'> & {
  annotations: { list?: Annotation[] };
  panels: Array<Panel | (Omit<schema.RowPanel, 'panels'> & { panels: Panel[] })>;
  templating: { list: Array<schema.VariableModel & VariableGap> };
}>;

// Gaps of the schema: Grafana writes and reads these, and the schema does not have them.

// The range of a column's own values instead of all columns'.
type FieldGap = { fieldMinMax?: boolean };

// The state timeline has both settings in its editor, as the time series has.
type StateTimelineGap = { spanNulls?: boolean | number; insertNulls?: boolean | number };

// A hidden column of Grafana 11; a newer one takes it for hideFrom.viz when it loads the file.
type TableGap = { hidden?: boolean };

// What the list of variables shows for a query that is an object.
type VariableGap = { definition?: string };
