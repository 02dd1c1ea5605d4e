/**
 * `npm run bench`: every cost as a median with its spread, beside its baseline and what must hold.
 *
 * `--only TEXT` those whose id has the text; `--json` one line for machines; `--page` writes docs/performance.md and its figures as well.
 * Ends with 0 also where a budget is missed: a machine may be slow. What is missed is named. 1: something could not be measured.
 */
import { parseArgs } from 'node:util'
import { benches, suites } from './catalogue.ts'
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
/** One that fails is told and costs no other one its figure. */
async function attempt(id: string, measuring: () => Promise<readonly Measured[]>): Promise<void> {
  try {
    const stolen = stolenShare()
    const all = await measuring()
    const share = Number(stolen().toFixed(2))
    for (const measured of all) {
      if (measured.id.includes(values.only)) tell(share > 0 ? { ...measured, stolen: share } : measured)
    }
    // After each: a run that is cut off has written what it had.
    if (values.page === true) writePerformancePage(out, everything)
  } catch (e) {
    failed.push(id)
    process.stderr.write(`${id} was not measured: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}\n`)
  }
}
for (const bench of benches.filter(({ id }) => id.includes(values.only))) {
  await attempt(bench.id, async () => [await measure(bench)])
}
for (const suite of suites.filter(({ id }) => id.startsWith(values.only) || values.only.startsWith(id))) {
  await attempt(suite.id, () => suite.run())
}
if (values.json === true) process.stdout.write(`${JSON.stringify({ benches: out })}\n`)
else {
  const missed = out.filter(({ holds }) => holds === false).map(({ id }) => id)
  process.stdout.write(
    `${out.length} measured, ${missed.length} over budget${missed.length > 0 ? `: ${missed.join(', ')}` : ''}\n`,
  )
}
// Servers and pages of a bench may be open still.
process.exit(failed.length > 0 ? 1 : 0)
