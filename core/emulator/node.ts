/**
 * An emulated node is a shell: a command line in, stdout, stderr and an exit code out.
 *
 * It knows `lctl` where Lustre is, the text tools that stand behind it in a pipe, `hostname`, `id`, `sh -c`, `timeout`,
 * transient timers through `systemd-run` and `systemctl stop`, and the programs it was given. Its files are the
 * parameters. Everything happens at the node's virtual instant; a command takes no virtual time.
 */
import type { Simulation } from '../sim/simulation.ts'
import type { ExecResult, Program } from './exec.ts'
import { ROOT, type LustreSide, type NodeUser } from './lctl/host.ts'
import { TransientTimers } from './transient-timers.ts'
import { UserSession } from './user-session.ts'

export interface NodeOptions {
  readonly name: string
  readonly role: 'oss' | 'mds' | 'scheduler' | 'controller'
  /** Absent on a node without Lustre: it has no lctl either. */
  readonly lustre?: LustreSide
  /** More programs on everybody's PATH. */
  readonly programs?: Readonly<Record<string, Program>>
}

export class EmulatedNode {
  readonly name: string
  readonly role: NodeOptions['role']
  readonly #timers: TransientTimers
  readonly #options: NodeOptions
  readonly #sessions = new Map<string, UserSession>()

  constructor(sim: Simulation, options: NodeOptions) {
    this.name = options.name
    this.role = options.role
    this.#options = options
    this.#timers = new TransientTimers(sim, (words) => this.#session(ROOT).runWords(words))
  }

  /** Names and instants (virtual ns) of the pending timers. */
  get timers(): ReadonlyMap<string, number> {
    return this.#timers.pending
  }

  /** Runs one command line as a user. Never throws: what a shell cannot do, it says on stderr. */
  exec(commandLine: string, user: NodeUser = ROOT): ExecResult {
    return this.#session(user).shell.run(commandLine)
  }

  #session(user: NodeUser): UserSession {
    const key = `${user.uid} ${user.name}`
    let session = this.#sessions.get(key)
    if (!session) {
      const systemd: Readonly<Record<string, Program>> = {
        'systemd-run': (args) => this.#timers.start(args),
        systemctl: (args) => this.#timers.stop(args),
      }
      session = new UserSession(
        {
          hostname: this.name,
          lustre: this.#options.lustre,
          programs: { ...this.#options.programs, ...(user.uid === 0 ? systemd : {}) },
        },
        user,
      )
      this.#sessions.set(key, session)
    }
    return session
  }
}
