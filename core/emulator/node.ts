/**
 * An emulated node: a shell that maps a command line to stdout, stderr and an exit code.
 *
 * It has `lctl` if Lustre is present, the text tools used after it in a pipe, system tools (`hostname`, `id`, `date` and the
 * like), `sh`, `sudo`, `timeout`, transient timers through `systemd-run` and `systemctl`, and the programs passed to it. Its
 * files are the parameters. A command runs at the current virtual time and takes none.
 */
import { NS_PER_S } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import { CounterProgram } from './counter-program.ts'
import { exitWith, type ExecResult, type Program } from './exec.ts'
import { ROOT, type LustreSide, type NodeUser } from './lctl/host.ts'
import { InputShell } from './shell/input-shell.ts'
import type { NodeClock } from './system-tools.ts'
import { Systemctl } from './systemctl.ts'
import { TransientTimers, type SystemdVersion } from './transient-timers.ts'
import { UserSession } from './user-session.ts'

export interface NodeOptions {
  readonly name: string
  readonly roles: readonly ('oss' | 'mds' | 'scheduler' | 'controller')[]
  /** Unix seconds at virtual time 0, when it was started. Default: 0. */
  readonly epochSeconds?: number
  /** systemd release; default 252. */
  readonly systemd?: SystemdVersion | undefined
  /** Absent on a node without Lustre, which has no lctl either. */
  readonly lustre?: LustreSide
  /** Additional programs on every user's PATH. */
  readonly programs?: Readonly<Record<string, Program>>
}

export class EmulatedNode {
  readonly name: string
  readonly roles: NodeOptions['roles']
  /** True while it answers no shell, so callers get no reply. Its own programs keep running. */
  isSilent = false
  readonly #timers: TransientTimers
  readonly #systemctl: Systemctl
  readonly #clock: NodeClock
  readonly #options: NodeOptions
  readonly #sessions = new Map<string, UserSession>()
  #pid = 5000
  /** Boot time, virtual ns. */
  #bootNs = 0

  constructor(sim: Simulation, options: NodeOptions) {
    this.name = options.name
    this.roles = options.roles
    this.#options = options
    const epochNs = BigInt(options.epochSeconds ?? 0) * BigInt(NS_PER_S)
    this.#clock = { nowNs: () => sim.now, unixNs: () => epochNs + BigInt(sim.now), upNs: () => sim.now - this.#bootNs }
    this.#timers = new TransientTimers(
      sim,
      (argv) => this.run(argv),
      (name) => this.#session(ROOT).pathOf(name),
      options.systemd ?? 252,
    )
    this.#systemctl = new Systemctl(this.#timers, this.#clock, options.systemd ?? 252)
  }

  /** Reboots: clears its timers and restarts its uptime. State that Lustre loses is handled by its services. */
  reboot(): void {
    this.#bootNs = this.#clock.nowNs()
    for (const unit of [...this.#timers.pending.keys()]) this.#timers.stop(unit)
  }

  /** Pending timers: expiry (virtual ns) by name. */
  get timers(): ReadonlyMap<string, number> {
    return this.#timers.pending
  }

  /** Runs one command line as a user. Never throws: unsupported syntax is reported on stderr. */
  exec(commandLine: string, user: NodeUser = ROOT): ExecResult {
    return this.#session(user).shell.run(commandLine)
  }

  /** Runs a program as a user from an argument list, without a shell in between. */
  run(argv: readonly string[], user: NodeUser = ROOT): ExecResult {
    return this.#session(user).runWords(argv)
  }

  /** Shell of a user that reads its commands from its input. */
  inputShell(user: NodeUser = ROOT): InputShell {
    return new InputShell(this.#session(user).shell, ++this.#pid, (isRoot) => this.#counters(isRoot ? ROOT : user))
  }

  #counters(user: NodeUser): CounterProgram {
    const run = (line: string): string => this.exec(line, user).stdout
    return new CounterProgram({
      run,
      uptime: () => run('cat /proc/uptime').split(' ')[0] ?? '',
      timeOfDay: () => run('date +%s.%N').trimEnd(),
    })
  }

  #session(user: NodeUser): UserSession {
    const key = `${user.uid} ${user.name} ${user.sudo?.join() ?? ''}`
    let session = this.#sessions.get(key)
    if (!session) {
      const isRoot = user.uid === 0
      const refused = exitWith(1, 'Failed to start transient timer unit: Access denied\n')
      const systemd: Readonly<Record<string, Program>> = {
        'systemd-run': (args) => (isRoot ? this.#timers.start(args) : refused),
        systemctl: (args) => this.#systemctl.run(args, isRoot),
      }
      session = new UserSession(
        {
          hostname: this.name,
          clock: this.#clock,
          lustre: this.#options.lustre,
          programs: { ...this.#options.programs, ...systemd },
          runAsRoot: (argv) => this.run(argv),
          hasUnitFile: (path) => this.#timers.hasFile(path),
          hasTimer: (prefix) => [...this.#timers.pending.keys()].some((unit) => unit.startsWith(prefix)),
        },
        user,
      )
      this.#sessions.set(key, session)
    }
    return session
  }
}
