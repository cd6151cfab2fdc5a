// Draws one dashboard as it looks when it is opened: window.dashboard is its JSON, window.answers what its panels were answered.
import { createTheme, dateTime, EventBusSrv, ThemeContext } from '@grafana/data';
import { GlobalStyles, PanelChrome, PanelContextProvider } from '@grafana/ui';
import { Component } from 'react';
import { createRoot } from 'react-dom/client';
import { bars } from './bars';
import { prepared } from './fields';
import { heatmap } from './heatmap';
import { lanes } from './lanes';
import { overTime, xy } from './lines';
import { number } from './number';
import { table } from './table';
import { trace } from './trace';

const { dashboard, answers, width, open } = window;
const theme = createTheme({ colors: { mode: 'light' } });
const range = { from: dateTime(answers.from), to: dateTime(answers.to), raw: { from: 'now-1h', to: 'now' } };
const drawing = { bargauge: bars, heatmap, stat: number, 'state-timeline': lanes, table, timeseries: overTime, traces: trace, xychart: xy };

// Grafana's grid: 24 columns, 30 pixels a row, 8 between panels.
const left = (x) => (x * (width - 8)) / 24 + 8;
const top = (y) => y * 38 + 44;

class Guard extends Component {
  state = {};
  static getDerivedStateFromError = (error) => ({ error });
  render = () => (this.state.error ? <b style={{ color: 'red' }}>{String(this.state.error)}</b> : this.props.children);
}

function Panel({ panel }) {
  const { x, y, w, h } = panel.gridPos;
  const at = { position: 'absolute', left: left(x), top: top(y) };
  if (panel.type === 'row') {
    return <h6 style={{ ...at, margin: 0, paddingTop: 8 }}>{panel.collapsed ? '▸' : '▾'} {panel.title}
      {panel.collapsed && <small style={{ color: theme.colors.text.secondary }}> ({panel.panels.length} panels, closed)</small>}</h6>;
  }
  const draw = (inner, height) => (
    <Guard>{drawing[panel.type]({ panel, frames: prepared(panel, answers.panels[panel.id] ?? [], theme), width: inner, height, range, theme })}</Guard>
  );
  return (
    <div style={at}>
      <PanelChrome title={panel.title} width={left(x + w) - left(x) - 8} height={h * 38 - 8} padding={panel.type === 'table' ? 'none' : 'md'}>{draw}</PanelChrome>
    </div>
  );
}

// Closed rows are drawn open if asked for. Then every panel moves up as far as it can, as in Grafana.
function placed(all) {
  const bottoms = Array(24).fill(0);
  const panels = all.flatMap((panel) => (panel.collapsed && open ? [{ ...panel, collapsed: false }, ...panel.panels] : [panel]));
  return panels.map((panel) => {
    const { x, w, h } = panel.gridPos;
    const y = Math.max(...bottoms.slice(x, x + w));
    bottoms.fill(y + h, x, x + w);
    return { ...panel, gridPos: { x, y, w, h } };
  });
}

const panels = placed(dashboard.panels);
document.title = String(top(Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h)))); // how high the picture must be
const chosen = Object.entries(answers.variables).map(([name, values]) => `${name}: ${values.join(', ')}`).join('   ');
createRoot(document.getElementById('root')).render(
  <ThemeContext.Provider value={theme}>
    <GlobalStyles />
    <PanelContextProvider value={{ eventsScope: 'preview', eventBus: new EventBusSrv() }}>
      <div style={{ position: 'absolute', left: 8, top: 10, width: width - 16, whiteSpace: 'nowrap', overflow: 'hidden' }}>
        <b>{dashboard.title}</b> <i style={{ color: 'crimson' }}>preview, not Grafana</i> <small>{chosen}</small>
      </div>
      {panels.map((panel) => <Panel key={panel.id} panel={panel} />)}
    </PanelContextProvider>
  </ThemeContext.Provider>,
);
