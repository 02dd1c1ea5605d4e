/**
 * README.html: one file that replays a bundle's range in any browser, from disk, without requests. Head, notebook and
 * file facts are rendered here; the script (renderer/replay) builds the replay from `replayData` in place of still
 * pictures, which remain if no script runs.
 */
import { formatClock, formatDate, formatInstant } from '#core/base/clock-text.ts'
import { formatBytes, formatNumber, formatRate, formatSpan, plural } from '#core/base/figure-text.ts'
import { plainLines, plainText } from '#core/base/plain-text.ts'
import { chartSvg } from '#core/snapshot/chart-svg.ts'
import { titleOf, type PageFacts } from '#core/snapshot/page-facts.ts'
import { valuesOf } from '#core/snapshot/column.ts'
import type { Column, ReplayData, ReplayPlane } from '#core/snapshot/replay-data.ts'
import { auditText, extentOf, samplesText, sourceText, statusText } from '#core/snapshot/report.ts'
import { standardCharts } from '#core/snapshot/standard-charts.ts'
import { notebookHtml } from './cells.ts'
import { html, Html, jsonText } from './html.ts'
import { pageParts, type PageParts } from './page-parts.ts'

const STATUS_LEVEL = { open: 'bad', watching: 'watch', resolved: 'ok', exercise: 'idle' } as const
/** Characters of the first note shown at the top. */
const LEAD_MOST = 420

/** Instants of a still picture, about one per four pixels. */
const STILL_POINTS = 200

const MARK = new Html(
  '<svg class="mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d="M4 3v18M20 3v18M4 6h16M8 6v6M12 6v6M16 6v6" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/><path class="water" d="M4 15.5c2.7-2 5.3 2 8 0s5.3-2 8 0V21H4z"/></svg>',
)

function head(facts: PageFacts): Html {
  const { manifest: m, incident } = facts
  const id = incident?.id ?? m.incident?.id
  return html`<header class="top">
    <span class="brand">${MARK}Sluice</span>
    <span class="src">RECORDED</span>
    <h1 title="${plainText(titleOf(facts))}"><bdi>${plainText(titleOf(facts))}</bdi></h1>
    ${id ? html`<span class="t3 id">${id}</span>` : ''}
    <nav aria-label="Parts of this page">
      <a href="#replay">Replay</a>${incident && html`<a href="#notebook">Notebook</a>`}<a href="#file">File</a>
    </nav>
    <span id="themes"></span>
  </header>`
}

/** Facts about the snapshot, one line each: it cannot be mistaken for a live view. */
function about(facts: PageFacts): Html {
  const { manifest: m, incident, span } = facts
  const status = incident?.status ?? m.incident?.status
  const alert = incident?.alert ?? null
  const note = incident?.cells.find((c) => c.kind === 'note')
  const lead = note?.kind === 'note' ? plainText(note.text.slice(0, LEAD_MOST).replace(/\s+/g, ' ')) : ''
  return html`<section class="about" aria-label="About this snapshot">
    <p class="chips">
      <span class="chip env-${m.source.env}"><bdi>${plainText(m.source.cluster)}</bdi> <b>${m.source.env}</b></span>
      ${status ? html`<span class="chip st ${STATUS_LEVEL[status]}">${statusText(status)}</span>` : ''}
      <span class="chip"
        >${m.source.kind === 'EMULATED' ? plainText(sourceText(m)) : `recorded from ${m.source.kind}`}</span
      >
      <span class="chip ${m.redaction === 'none' ? 'st watch' : ''}"
        >${m.redaction === 'none' ? 'names are not redacted' : 'names are pseudonyms'}</span
      >
      <span class="t2"
        ><time data-ms="${span.fromMs}">${formatDate(span.fromMs)} ${formatClock(span.fromMs)}</time> to
        <time data-ms="${span.toMs}">${formatClock(span.toMs)}</time> UTC, ${formatSpan(span.toMs - span.fromMs)}</span
      >
      <span class="t3 local"></span>
      <span class="t3 end">${plainText(samplesText(m))}</span>
    </p>
    ${
      alert === null
        ? ''
        : html`<p class="alert">
            <b>Alert</b> ${plainText(alert.text)} <span class="t3">${plainText(alert.where)}</span>
          </p>`
    }
    ${
      lead !== '' &&
      html`<p class="lead">
        ${lead}${note?.kind === 'note' && note.text.length > LEAD_MOST && '…'} <a href="#notebook">Notebook</a>
      </p>`
    }
  </section>`
}

const REPLAYED = 'Allow scripts for this file to replay it with a time cursor; nothing is loaded from the network.'
const NOT_BUILT =
  'This page has no time cursor: it was exported from a checkout of Sluice without its build tools. Built with npm run build, the same export has one.'

/** Still pictures and means, shown without scripts. */
function still(data: ReplayData, facts: PageFacts, hasScript: boolean): Html {
  const mean = (of: Column): number | null => extentOf(valuesOf(of, data.t.length))?.mean ?? null
  const row = (name: string, user: string, r: number | null, read: Column, write: Column): Html =>
    html`<tr>
      <th scope="row"><bdi>${name}</bdi></th>
      <td class="word">${user}</td>
      <td>${formatNumber(r)}</td>
      <td>${formatRate(mean(read)).text}</td>
      <td>${formatRate(mean(write)).text}</td>
    </tr>`
  const { other } = data
  return html`<section id="still">
    <p class="callout">Static charts of the range. ${hasScript ? REPLAYED : NOT_BUILT}</p>
    ${standardCharts(data, facts, STILL_POINTS).map(
      (c) => html`<div class="card figure">${new Html(chartSvg(c, { version: facts.manifest.version }))}</div>`,
    )}
    <h2>Jobs <small>means over the range</small></h2>
    <div class="card scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col" class="word">User</th>
            <th scope="col">RPC/s</th>
            <th scope="col">Read <small>MB/s</small></th>
            <th scope="col">Write <small>MB/s</small></th>
          </tr>
        </thead>
        <tbody>
          ${data.jobs.map((j) => row(j.name, j.user, j.mean, j.readBps, j.writeBps))}
          ${other.jobs > 0 && row(`${other.jobs} other jobs`, '', mean(other.rpcs), other.readBps, other.writeBps)}
        </tbody>
      </table>
    </div>
    ${data.planes.map((table) => stillPlane(table, data.t.length))} ${stillConvoys(data)}
    <h2>Rules at the end</h2>
    <pre class="card">${facts.rules.after === '' ? 'None.' : plainLines(facts.rules.after)}</pre>
    <h2>Events</h2>
    <div class="card scroll">
      <table>
        <tbody>
          ${data.events.map(
            (e) =>
              html`<tr>
                <td class="word t3">${formatClock(e.atMs)}</td>
                <td class="word">${e.subject}</td>
                <td class="word"><bdi>${e.text}</bdi> <bdi class="t3">${e.where}</bdi></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`
}

/** Leading series of a table of locks, metadata or tokens. */
function stillPlane({ title, nameIs, placeIs, hasJob, columns, series, others }: ReplayPlane, n: number): Html {
  const mean = (of: Column): string => formatNumber(extentOf(valuesOf(of, n))?.mean, 1)
  const row = (names: readonly string[], values: readonly Column[]): Html =>
    html`<tr>
      <th scope="row"><bdi>${names[0] ?? ''}</bdi></th>
      ${names.slice(1).map((name) => html`<td class="word"><bdi>${name}</bdi></td>`)}
      ${values.map((of) => html`<td>${mean(of)}</td>`)}
    </tr>`
  const heads = [nameIs, ...(placeIs === '' ? [] : [placeIs]), ...(hasJob ? ['job'] : [])]
  return html`<h2>${title} <small>means over the range</small></h2>
    <div class="card scroll">
      <table>
        <thead>
          <tr>
            ${heads.map((head) => html`<th scope="col" class="word">${head}</th>`)}
            ${columns.map((c) => html`<th scope="col">${c.title} <small>${c.unit}</small></th>`)}
          </tr>
        </thead>
        <tbody>
          ${series.map((s) => row([s.name, ...(placeIs === '' ? [] : [s.place]), ...(hasJob ? [s.job] : [])], s.values))}
          ${others !== null && row(['all others', ...heads.slice(1).map(() => '')], others)}
        </tbody>
      </table>
    </div>`
}

function stillConvoys({ convoys }: ReplayData): Html | false {
  if (convoys.length === 0) return false
  return html`<h2>Convoys</h2>
    <div class="card scroll">
      <table>
        <thead>
          <tr>
            <th scope="col" class="word">Start</th>
            <th scope="col" class="word">Resource</th>
            <th scope="col" class="word">Lock server</th>
            <th scope="col">Length <small>ms</small></th>
            <th scope="col">Waiting</th>
          </tr>
        </thead>
        <tbody>
          ${convoys.map(
            (c) =>
              html`<tr>
                <td class="word t3">${formatClock(c.fromMs, true)}</td>
                <th scope="row" class="word"><bdi>${c.resource}</bdi></th>
                <td class="word"><bdi>${c.server}</bdi></td>
                <td>${formatNumber(c.toMs - c.fromMs, 1)}</td>
                <td>${formatNumber(c.waiting)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}

const fact = (name: string, ...text: readonly (Html | string)[]): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${text}</dd>
  </div>`

function file(facts: PageFacts, data: ReplayData): Html {
  const { manifest: m, sealed, incident } = facts
  const shown = data.meanOf > 1 ? `each the mean of ${data.meanOf} samples` : 'each one sample'
  const bound = [
    ...(data.eventsMore > 0 ? [`${plural(data.eventsMore, 'earlier event')} only in csv/events.csv.`] : []),
    ...(data.targetsMore > 0 ? [`${plural(data.targetsMore, 'more target')} only in csv/targets.csv.`] : []),
    ...(data.rulesMore > 0
      ? [`${plural(data.rulesMore, 'more rule entry', 'more rule entries')} only in csv/rules.csv.`]
      : []),
    ...data.planes
      .filter(({ others }) => others !== null)
      .map(({ id, title, series }) => `${title}: all but ${series.length} only in csv/${id}.csv; here as one row.`),
    ...(data.convoysMore > 0 ? [`${plural(data.convoysMore, 'shorter convoy')} only in history.qosrec.`] : []),
  ]
  const missing = [...m.missing, ...bound]
  return html`<section id="file" class="sec">
    <h2>This file</h2>
    <dl>
      ${fact('Source', html`<bdi>${plainText(m.source.cluster)}</bdi>, ${plainText(sourceText(m))}`)}
      ${fact('Range', `${formatInstant(facts.span.fromMs)} to ${formatInstant(facts.span.toMs)} UTC, on the source\u2019s clock`)}
      ${fact('Samples', samplesText(m))}
      ${fact('Shown here', `${plural(data.t.length, 'point')}, ${shown} of tier ${data.tier}; the ${plural(data.jobs.length, 'busiest job')}, all other jobs summed. Gaps are not filled; figures are rounded.`)}
      ${fact('Names', m.redaction === 'none' ? 'not redacted' : 'pseudonyms, stable across exports of that console')}
      ${fact('Audit', m.audit ? auditText(m.audit) : 'none')}
      ${incident ? fact('Opened by', html`<bdi>${plainText(incident.author)}</bdi>, ${formatInstant(incident.createdMs)} UTC`) : ''}
      ${fact('Written by', `Sluice ${m.version}`)}
    </dl>
    <h3>Missing data</h3>
    <ul>
      ${missing.length === 0 ? html`<li>None.</li>` : missing.map((w) => html`<li>${plainText(w)}</li>`)}
    </ul>
    <h3>Verify and re-open</h3>
    <p>
      This page does not check itself. <code>sluice snapshot verify FILE.zip</code> reports every changed member of its
      archive; <code>sluice snapshot info FILE.zip</code> lists the members. In Sluice, Incidents, Open bundle replays
      the archive in every view and forks it into the sandbox.
    </p>
    ${
      sealed.length > 0 &&
      html`<div class="scroll">
        <table class="code">
          <tbody>
            ${sealed.map(
              (s) =>
                html`<tr>
                  <td class="word">${plainText(s.name)}</td>
                  <td>${formatBytes(s.bytes)}</td>
                  <td class="word t2">sha256 ${plainText(s.sha256)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
  </section>`
}

const foot = (facts: PageFacts): Html =>
  html`<footer class="status">
    <span class="src">RECORDED</span>
    <span
      >of <bdi>${plainText(facts.manifest.source.cluster)}</bdi> ${facts.manifest.source.env},
      ${formatDate(facts.span.fromMs)}</span
    >
    <span>read only</span><span>no network</span>
    <span id="keys" class="end"></span>
  </footer>`

/** Complete page. */
export function readmePage(data: ReplayData, facts: PageFacts, parts: PageParts = pageParts()): string {
  const { script, style, policy } = parts
  const id = facts.incident?.id ?? facts.manifest.incident?.id
  const title = html`<title>RECORDED ${id ?? ''} ${plainText(titleOf(facts))}</title>`
  const notebook =
    facts.incident && facts.incident.cells.length > 0
      ? html`<section id="notebook" class="sec">
          <h2>Notebook</h2>
          ${notebookHtml(facts.incident, facts.manifest.version)}
        </section>`
      : html``
  // No template: hashed contents must be between their tags unchanged.
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">\n`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
    '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="dark light">\n',
    `${title.text}\n<link rel="icon" href="data:,">\n<style>${style}</style>\n</head>\n<body>\n<div class="win">\n`,
    `${head(facts).text}\n<section id="strip" aria-label="Time cursor"></section>\n<main>\n${about(facts).text}\n<div id="replay"></div>\n`,
    `${still(data, facts, script !== null).text}\n${notebook.text}\n${file(facts, data).text}\n</main>\n${foot(facts).text}\n</div>\n`,
    script === null
      ? ''
      : `<script type="application/json" id="data">${jsonText(data)}</script>\n<script>${script}</script>\n`,
    '</body>\n</html>\n',
  ].join('')
}
