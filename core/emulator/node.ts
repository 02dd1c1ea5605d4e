/**
 * An emulated node is a shell: a command line in, stdout, stderr and an exit code out.
 *
 * It knows `lctl`, `hostname`, `true`, `sh -c`, transient timers through `systemd-run` and `systemctl stop`, and the
 * programs it was given. Everything happens at the node's virtual instant; a command takes no virtual time.
 */
import { sToNs } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import type { ExecResult, Program } from './exec.ts'
import { runLctl } from './lctl.ts'
import type { Parameter } from './parameter.ts'
import { parseCommandLine } from './words.ts'

const done = (stdout = ''): ExecResult => ({ stdout, stderr: '', code: 0 })
const refuse = (stderr: string, code: number): ExecResult => ({ stdout: '', stderr, code })

/** `90`, `90s`, `5m`, `1h` in ns; undefined for anything else. */
function parseSpan(text: string): number | undefined {
  const m = /^(\d+)(s|m|min|h)?$/.exec(text)
  if (!m) return undefined
  const unit = { s: 1, m: 60, min: 60, h: 3600 }[m[2] ?? 's'] ?? 1
  return sToNs(Number(m[1]) * unit)
}

export class EmulatedNode {
  readonly name: string
  readonly role: 'oss' | 'scheduler'
  readonly #sim: Simulation
  readonly #programs: Readonly<Record<string, Program>>
  /** Transient timer units; each start is an object of its own. */
  readonly #timers = new Map<string, { readonly at: number }>()

  constructor(
    sim: Simulation,
    name: string,
    role: EmulatedNode['role'],
    parameters: readonly Parameter[],
    programs: Readonly<Record<string, Program>> = {},
  ) {
    this.#sim = sim
    this.name = name
    this.role = role
    this.#programs = {
      ...programs,
      ...(parameters.length > 0 ? { lctl: (args: readonly string[]) => runLctl(parameters, args) } : {}),
      hostname: () => done(`${name}\n`),
      true: () => done(),
      sh: (args) =>
        args[0] === '-c' && args.length === 2 ? this.exec(args[1] as string) : refuse('sh: usage: sh -c COMMAND\n', 2),
      'systemd-run': (args) => this.#startTimer(args),
      systemctl: (args) => this.#stopTimer(args),
    }
  }

  /** Names and instants (virtual ns) of the pending timers. */
  get timers(): ReadonlyMap<string, number> {
    return new Map([...this.#timers].map(([unit, { at }]) => [unit, at]))
  }

  /** Runs one command line. Never throws: what a shell cannot do, it says on stderr. */
  exec(commandLine: string): ExecResult {
    const steps = parseCommandLine(commandLine)
    if (!steps.ok) return refuse(`sh: 1: Syntax error: ${steps.error}\n`, 2)
    let stdout = ''
    let stderr = ''
    let code = 0
    for (const step of steps.value) {
      if ((step.after === '&&' && code !== 0) || (step.after === '||' && code === 0)) continue
      const r = this.#run(step.words)
      stdout += r.stdout
      stderr += r.stderr
      code = r.code
    }
    return { stdout, stderr, code }
  }

  #run([name = '', ...args]: readonly string[]): ExecResult {
    const program = Object.hasOwn(this.#programs, name) ? this.#programs[name] : undefined
    return program ? program(args) : refuse(`sh: 1: ${name}: not found\n`, 127)
  }

  #startTimer(args: readonly string[]): ExecResult {
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
      else if (key !== '--quiet' && key !== '--collect') return refuse(`systemd-run: unrecognized option '${key}'\n`, 1)
    }
    const command = args.slice(i)
    if (span === undefined || unit === '' || command.length === 0) {
      return refuse('systemd-run: --on-active=, --unit= and a command are needed\n', 1)
    }
    if (this.#timers.has(unit)) {
      return refuse(`Failed to start transient timer unit: Unit ${unit}.timer was already loaded.\n`, 1)
    }
    const timer = { at: this.#sim.now + span }
    this.#timers.set(unit, timer)
    this.#sim.at(timer.at, () => {
      // A unit that was stopped, and perhaps made again, is another timer.
      if (this.#timers.get(unit) !== timer) return
      this.#timers.delete(unit)
      this.#run(command)
    })
    return { stdout: '', stderr: `Running timer as unit: ${unit}.timer\n`, code: 0 }
  }

  #stopTimer(args: readonly string[]): ExecResult {
    if (args[0] !== 'stop' || args.length !== 2) return refuse('systemctl: only stop UNIT is known here\n', 1)
    const unit = (args[1] as string).replace(/\.timer$/, '')
    if (!this.#timers.delete(unit)) return refuse(`Failed to stop ${unit}.timer: Unit ${unit}.timer not loaded.\n`, 5)
    return done()
  }
}
