/** Notebook cells in README.html: rendered here, so that they are readable without scripts. */
import { formatClock } from '#core/base/clock-text.ts'
import { formatNumber, formatSigned, plural } from '#core/base/figure-text.ts'
import { plainLines, plainText } from '#core/base/plain-text.ts'
import { chartSvg, provenanceText } from '#core/snapshot/chart-svg.ts'
import type { Cell, DiffCell, Incident, TableCell, TranscriptCell, VerdictCell } from '#core/snapshot/notebook.ts'
import { html, Html } from './html.ts'

const PICTURE = { width: 960, height: 280 } as const

const provenance = (of: Exclude<Cell, { kind: 'note' }>['of']): Html =>
  html`<p class="prov">${provenanceText(of).map((w) => html`<span>${plainText(w)}</span>`)}</p>`

/** Paragraphs of a note, as plain text. */
const note = (text: string): Html =>
  html`<div class="note">
    ${plainLines(text.replace(/\r\n?/g, '\n'))
      .split(/\n{2,}/)
      .filter((p) => p.trim() !== '')
      .map((p) => html`<p>${p}</p>`)}
  </div>`

function table(cell: TableCell): Html {
  const rows = cell.rows.map(
    (r) =>
      html`<tr>
        <th scope="row"><i class="sw k${r.ink}"></i><bdi>${plainText(r.name.text)}</bdi></th>
        ${cell.columns.map((c, i) => html`<td>${(c.signed ? formatSigned : formatNumber)(r.values[i], 1)}</td>`)}
      </tr>`,
  )
  const heads = cell.columns.map(
    (c) => html`<th scope="col">${plainText(c.label)} <small>${plainText(c.unit)}</small></th>`,
  )
  const count = cell.known > rows.length ? `${rows.length} of ${formatNumber(cell.known)}` : plural(rows.length, 'row')
  return html`<h3>${plainText(cell.title)} <small>${count}</small></h3>
    <div class="scroll" tabindex="0" role="region" aria-label="${plainText(cell.title)}">
      <table>
        <thead>
          <tr>
            <td></td>
            ${heads}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`
}

const SIGN = { add: '+', mod: '~', del: '\u2212', same: '' } as const
const LABELS = { add: 'added', mod: 'changed', del: 'gone', same: 'same' } as const

const rate = (l: DiffCell['lines'][number]): string =>
  l.kind === 'mod' ? `${formatNumber(l.before)} \u2192 ${formatNumber(l.after)}` : formatNumber(l.after ?? l.before)

const diff = (cell: DiffCell): Html =>
  html`<h3>${plainText(cell.title)} <small>${plainText(cell.service)}, ${plural(cell.servers, 'server')}</small></h3>
    <ul class="diff">
      ${cell.lines.map(
        (l) =>
          html`<li class="${l.kind}">
            <b>${SIGN[l.kind]}<span class="hid">${LABELS[l.kind]}: </span></b>
            <code><bdi>${plainText(l.name)}</bdi> <bdi>${plainText(l.conditions)}</bdi></code>
            <span class="num">${rate(l)} <small>RPC/s</small></span>
          </li>`,
      )}
    </ul>
    ${cell.more > 0 && html`<p class="t3 pad">${plural(cell.more, 'more rule')}</p>`}`

const verdict = (cell: VerdictCell): Html =>
  html`<p class="pad">
      ${cell.parts.map((p) => (p.strong ? html`<b>${plainText(p.text)}</b>` : html`${plainText(p.text)}`))}
      <span class="t2">${plainText(cell.detail)}</span>
    </p>
    ${
      cell.unknown.length > 0 &&
      html`<details>
        <summary>Model limitations</summary>
        <ul>
          ${cell.unknown.map((u) => html`<li>${plainText(u)}</li>`)}
        </ul>
      </details>`
    }`

/** Line ends of a command are preserved: a transcript shows exactly what was sent. */
const transcript = (cell: TranscriptCell): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="Transcript">
    <table class="code">
      <tbody>
        ${cell.lines.map(
          (l) =>
            html`<tr class="${l.kind}">
              <td class="t3">${formatClock(l.atMs)}</td>
              <td class="t3"><bdi>${plainText(l.where)}</bdi></td>
              <td class="t3">${l.kind}</td>
              <td class="text">${plainLines(l.text)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`

function body(cell: Cell, version: string): Html {
  if (cell.kind === 'note') return note(cell.text)
  if (cell.kind === 'chart')
    return html`<div class="card figure">${new Html(chartSvg(cell, { ...PICTURE, version }))}</div>`
  const inside =
    cell.kind === 'table'
      ? table(cell)
      : cell.kind === 'diff'
        ? diff(cell)
        : cell.kind === 'verdict'
          ? verdict(cell)
          : transcript(cell)
  return html`<div class="card ${cell.kind}">${inside}${provenance(cell.of)}</div>`
}

/** All cells, oldest first, with their times beside them. */
export const notebookHtml = (incident: Incident, version: string): Html =>
  html`${incident.cells.map(
    (cell) =>
      html`<article class="cell">
        <p class="gut">${formatClock(cell.atMs, false)}<br />${cell.kind}</p>
        ${body(cell, version)}
      </article>`,
  )}`
