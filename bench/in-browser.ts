/** Runs benches in a real browser, on the built window. */
import { noBrowser } from '../tests/e2e/browser.ts'
import type { Measured } from './measure.ts'

/** Reports a missing browser and returns no measurements. */
export async function inBrowser(run: () => Promise<Measured[]>): Promise<Measured[]> {
  if (noBrowser === undefined) return run()
  process.stderr.write(`not measured: ${noBrowser}\n`)
  return []
}
