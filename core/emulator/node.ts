/**
 * An emulated node is a shell: a command line in, stdout, stderr and an exit code out.
 *
 * It knows `lctl` where Lustre is, the text tools that stand behind it in a pipe, what tells about the node (`hostname`, `id`, `date`
 * and the like), `sh`, `sudo`, `timeout`, transient timers through `systemd-run` and `systemctl`, and the programs it was given. Its
 * files are the parameters. Everything happens at the node's virtual instant; a command takes no virtual time.
 */
import { NS_PER_S } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
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
  /** Unix seconds at virtual time 0, when it was started; 0 without. */
  readonly epochSeconds?: number
  /** Release of its systemd; 252 without. */
  readonly systemd?: SystemdVersion | undefined
  /** Absent on a node without Lustre: it has no lctl either. */
  readonly lustre?: LustreSide
  /** More programs on everybody's PATH. */
  readonly programs?: Readonly<Record<string, Program>>
}

export class EmulatedNode {
  readonly name: string
  readonly roles: NodeOptions['roles']
  /** It answers no shell now; whoever asks it waits in vain. What it runs by itself goes on. */
  isSilent = false
  readonly #timers: TransientTimers
  readonly #systemctl: Systemctl
  readonly #clock: NodeClock
  readonly #options: NodeOptions
  readonly #sessions = new Map<string, UserSession>()
  #pid = 5000
  /** When it booted, virtual ns. */
  #bootNs = 0

  constructor(sim: Simulation, options: NodeOptions) {
    this.name = options.name
    this.roles = options.roles
    this.#options = options
    const epochNs = BigInt(options.epochSeconds ?? 0) * BigInt(NS_PER_S)
    this.#clock = { nowNs: () => sim.now, unixNs: () => epochNs + BigInt(sim.now), upNs: () => sim.now - this.#bootNs }
    this.#timers = new TransientTimers(
      sim,
      (words) => this.run(words),
      (name) => this.#session(ROOT).pathOf(name),
      options.systemd ?? 252,
    )
    this.#systemctl = new Systemctl(this.#timers, this.#clock, options.systemd ?? 252)
  }

  /** Boots now: its timers are gone, and its uptime begins again. What Lustre loses is its services' own affair. */
  reboot(): void {
    this.#bootNs = this.#clock.nowNs()
    for (const unit of [...this.#timers.pending.keys()]) this.#timers.stop(unit)
  }

  /** Names and instants (virtual ns) of the pending timers. */
  get timers(): ReadonlyMap<string, number> {
    return this.#timers.pending
  }

  /** Runs one command line as a user. Never throws: what a shell cannot do, it says on stderr. */
  exec(commandLine: string, user: NodeUser = ROOT): ExecResult {
    return this.#session(user).shell.run(commandLine)
  }

  /** Runs a program as a user as if its words had been typed, without a shell in between. */
  run(words: readonly string[], user: NodeUser = ROOT): ExecResult {
    return this.#session(user).runWords(words)
  }

  /** A shell of a user that reads its commands from its input. */
  inputShell(user: NodeUser = ROOT): InputShell {
    return new InputShell(this.#session(user).shell, ++this.#pid)
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
          runAsRoot: (words) => this.run(words),
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
