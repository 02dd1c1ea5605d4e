/** `systemd-run --on-active=` and `systemctl stop`: commands that a node runs once, later, as root. */
import { sToNs } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import { done, exitWith, type ExecResult } from './exec.ts'

/** `90`, `90s`, `5m`, `1h` in ns; undefined for anything else. */
function parseSpan(text: string): number | undefined {
  const m = /^(\d+)(s|m|min|h)?$/.exec(text)
  if (!m) return undefined
  const unit = { s: 1, m: 60, min: 60, h: 3600 }[m[2] ?? 's'] ?? 1
  return sToNs(Number(m[1]) * unit)
}

export class TransientTimers {
  readonly #sim: Simulation
  readonly #run: (words: readonly string[]) => void
  /** By unit; each start is an object of its own. */
  readonly #timers = new Map<string, { readonly at: number }>()

  constructor(sim: Simulation, run: (words: readonly string[]) => void) {
    this.#sim = sim
    this.#run = run
  }

  /** Names and instants (virtual ns) of the pending timers. */
  get pending(): ReadonlyMap<string, number> {
    return new Map([...this.#timers].map(([unit, { at }]) => [unit, at]))
  }

  /** `systemd-run --unit=U --on-active=SPAN [--quiet] [--collect] [--] COMMAND ...`. */
  start(args: readonly string[]): ExecResult {
    let unit = ''
    let span: number | undefined
    let i = 0
    for (; i < args.length && (args[i] as string).startsWith('--'); i++) {
      if (args[i] === '--') {
        i++
        break
      }
      const [key, value = ''] = (args[i] as string).split('=', 2)
      if (key === '--on-active') span = parseSpan(value)
      else if (key === '--unit') unit = value
      else if (key !== '--quiet' && key !== '--collect') {
        return exitWith(1, `systemd-run: unrecognized option '${key}'\n`)
      }
    }
    const command = args.slice(i)
    if (span === undefined || unit === '' || command.length === 0) {
      return exitWith(1, 'systemd-run: --on-active=, --unit= and a command are needed\n')
    }
    if (this.#timers.has(unit)) {
      return exitWith(1, `Failed to start transient timer unit: Unit ${unit}.timer was already loaded.\n`)
    }
    const timer = { at: this.#sim.now + span }
    this.#timers.set(unit, timer)
    this.#sim.at(timer.at, () => {
      // A unit that was stopped, and perhaps made again, is another timer.
      if (this.#timers.get(unit) !== timer) return
      this.#timers.delete(unit)
      this.#run(command)
    })
    return exitWith(0, `Running timer as unit: ${unit}.timer\n`)
  }

  /** `systemctl stop UNIT.timer`. */
  stop(args: readonly string[]): ExecResult {
    if (args[0] !== 'stop' || args.length !== 2) return exitWith(1, 'systemctl: only stop UNIT is known here\n')
    const unit = (args[1] as string).replace(/\.timer$/, '')
    if (this.#timers.delete(unit)) return done()
    return exitWith(5, `Failed to stop ${unit}.timer: Unit ${unit}.timer not loaded.\n`)
  }
}
