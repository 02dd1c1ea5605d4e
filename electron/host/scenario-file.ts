/** Reader of scenario files. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fail, type Result } from '#core/base/result.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'

/** Reads a scenario file. Failures: SCENARIO_UNREADABLE, and those of `parseScenario`. */
export function readScenario(file: string): Result<Scenario> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (e) {
    return fail({
      code: 'SCENARIO_UNREADABLE',
      what: `the scenario ${file} cannot be read`,
      why: e instanceof Error ? e.message : String(e),
      next: 'Name a file that exists: --scenario FILE.',
    })
  }
  return parseScenario(text, basename(file))
}
