/**
 * `npm run bench`: every cost as a median with its spread, beside its baseline and its budget.
 *
 * `--only TEXT` selects ids that contain the text; `--json` prints one line for machines; `--page` also writes
 * docs/performance.md and its values. An interrupted run reports the results so far. Exit code 0 even for missed budgets, which
 * are listed, because a machine may be slow; 1: a measurement failed.
 */
import { parseArgs } from 'node:util'
import { benches, suites } from './catalogue.ts'
import { stepNs } from './core-speed.ts'
import { lineOf, measure, type Measured } from './measure.ts'
import { writePerformancePage } from './performance-page.ts'
import { stolenShare } from './stolen.ts'

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, page: { type: 'boolean' }, only: { type: 'string', default: '' } },
})
const out: Measured[] = []
const tell = (measured: Measured): void => {
  out.push(measured)
  if (values.json !== true) process.stdout.write(`${lineOf(measured)}\n`)
}
const everything = [...benches, ...suites].map(({ id }) => id)
const failed: string[] = []
/** Reports a failure and continues with the other benches. */
async function attempt(id: string, measuring: () => Promise<readonly Measured[]>): Promise<void> {
  try {
    const before = stepNs()
    const stolen = stolenShare()
    const from = performance.now()
    const all = await measuring()
    const share = Number(stolen().toFixed(2))
    process.stderr.write(`# ${id}: ${((performance.now() - from) / 1000).toFixed(1)} s\n`)
    const meanwhile = { coreNs: Number(((before + stepNs()) / 2).toFixed(2)), ...(share > 0 && { stolen: share }) }
    for (const measured of all) if (measured.id.includes(values.only)) tell({ ...measured, ...meanwhile })
    // After each bench, so that an interrupted run keeps its results.
    if (values.page === true) writePerformancePage(out, everything)
  } catch (e) {
    failed.push(id)
    process.stderr.write(`${id} was not measured: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}\n`)
  }
}
function tellAll(): void {
  if (values.json === true) process.stdout.write(`${JSON.stringify({ benches: out })}\n`)
  else {
    const missed = out.filter(({ holds }) => holds === false).map(({ id }) => id)
    const names = missed.length > 0 ? `: ${missed.join(', ')}` : ''
    process.stdout.write(`${out.length} measured, ${missed.length} over budget${names}\n`)
  }
}
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    tellAll()
    process.exit(code)
  })
}
for (const bench of benches.filter(({ id }) => id.includes(values.only))) {
  await attempt(bench.id, async () => [await measure(bench)])
}
for (const suite of suites.filter(({ id }) => id.startsWith(values.only) || values.only.startsWith(id))) {
  await attempt(suite.id, () => suite.run())
}
tellAll()
// A bench may leave servers and pages open.
process.exit(failed.length > 0 ? 1 : 0)
