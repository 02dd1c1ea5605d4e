/**
 * Table of docs/advances/README.md from the document of `sluice papers --only advances --seeds 1-20 --json` on standard input:
 *
 *     npx sluice papers --only advances --seeds 1-20 --json | node bench/advances.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { ADVANCES } from '#core/controllers/advances.ts'
import type { Claim } from '#core/papers/claims.ts'
import type { Measured } from '#core/papers/expectation.ts'
import { agreementText } from '../electron/cli/papers-table.ts'

const PAGE = new URL('../docs/advances/README.md', import.meta.url)
const MARKS = ['<!-- results -->', '<!-- end of results -->'] as const

const figure = (value: Measured | null | undefined): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(4))) : ''

function row({ what, original, measured, range, required, met }: Claim): string {
  const band = range === null ? '' : `${figure(range[0])} to ${figure(range[1])}`
  const wanted = required === undefined ? '' : `${agreementText({ target: required.target })}, ${required.on}`
  return `| ${[what, figure(original), figure(measured), band, wanted, met === undefined ? '' : met ? 'met' : 'missed'].join(' | ')} |`
}

const { claims, seeds } = JSON.parse(await text(process.stdin)) as { claims: Claim[]; seeds: number[] }
const tables = ADVANCES.map(({ name, title, page }) => {
  const own = claims.filter(({ id }) => id.startsWith(`advances.${name}.`))
  return [
    `### [${title}](${page.replace('advances/', '')}) (\`${name}\`)`,
    '',
    '| claim | paper’s rule | advance | range | required | |',
    '|---|---|---|---|---|---|',
    ...own.map(row),
  ].join('\n')
})
const before = readFileSync(PAGE, 'utf8')
const [start, end] = [before.indexOf(MARKS[0]), before.indexOf(MARKS[1])]
if (start < 0 || end < start) throw new Error(`${PAGE.pathname} has no place for the results`)
const results = `${MARKS[0]}\nMedians and ranges over ${seeds.length} seeds.\n\n${tables.join('\n\n')}\n`
writeFileSync(PAGE, `${before.slice(0, start)}${results}${before.slice(end)}`)
