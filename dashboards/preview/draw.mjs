// draw.mjs PACKAGES FRAMES OUT [--open]: pictures of all dashboards into the folder OUT, by a headless Chromium. PACKAGES is where
// package.json is installed, FRAMES what TestFrames of test/panels wrote. With --open closed rows are drawn open.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [packages, frames, out, option] = process.argv.slice(2).map((argument) => (argument.startsWith('--') ? argument : resolve(argument)));
const here = dirname(fileURLToPath(import.meta.url)), work = join(packages, 'pages'), width = 1400;
const installed = createRequire(join(packages, 'package.json'));
const esbuild = installed('esbuild'), sharp = installed('sharp');
mkdirSync(work, { recursive: true });
mkdirSync(out, { recursive: true });
await esbuild.build({
  entryPoints: [join(here, 'src/main.jsx')], bundle: true, minify: true, outfile: join(work, 'main.js'), jsx: 'automatic', nodePaths: [join(packages, 'node_modules')],
  define: { 'process.env.NODE_ENV': '"production"', global: 'window' }, loader: { '.svg': 'dataurl', '.ttf': 'empty' }, logLevel: 'error',
});
const styles = ['uplot/dist/uPlot.min.css', '@grafana/react-data-grid/lib/styles.css']
  .map((file) => readFileSync(join(packages, 'node_modules', file), 'utf8')).join('\n');

function chromium(page, ...options) {
  return execFileSync(process.env.CHROMIUM ?? 'chromium', [
    '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--allow-file-access-from-files', '--virtual-time-budget=20000', ...options, `file://${page}`,
  ], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
}

const boards = join(here, '..');
for (const file of readdirSync(boards).filter((name) => name.endsWith('.json'))) {
  const dashboard = JSON.parse(readFileSync(join(boards, file)));
  const answers = JSON.parse(readFileSync(join(frames, `${dashboard.uid}.json`)));
  const given = JSON.stringify({ dashboard, answers, width, open: option === '--open' }).replaceAll('<', '\\u003c');
  const page = join(work, file.replace('.json', '.html')), picture = join(out, file.replace('.json', '.png'));
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><style>${styles}</style><body><div id="root"></div>
    <script>Object.assign(window, ${given})</script><script src="main.js"></script>`);
  const [, height] = chromium(page, '--dump-dom').match(/<title>(\d+)<\/title>/) ?? [];
  if (!height) throw new Error(`${page} was not drawn: open it in a browser`);
  const shot = join(work, 'shot.png');
  chromium(page, `--screenshot=${shot}`, `--window-size=${width},${height}`);
  await sharp(shot).png({ palette: true, quality: 90, effort: 10 }).toFile(picture); // a quarter of the size
  console.log(`${picture}: ${width} x ${height}, ${Math.round(statSync(picture).size / 1000)} kB`);
}
