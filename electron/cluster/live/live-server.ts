/** One server of a live cluster: its session, what was found out about it, and the shells that the rest of the console uses. */
import type { CheckStep, ServerInput } from '#core/api/clusters.ts'
import type { Failure } from '#core/base/result.ts'
import type { ExecResult, NodeConnection, NodeRole, TimerKind } from '../connection.ts'
import { discover } from '../discovery/discover.ts'
import type { NodeFacts } from '../discovery/facts.ts'
import { accessOf, gate, literalOf } from '../remote-command.ts'
import { SshError } from '../../ssh/failures.ts'
import type { Session } from '../../ssh/session.ts'
import { SshNode } from '../../ssh/ssh-node.ts'
import type { SessionState } from '../../ssh/state.ts'
import { connectionSteps } from './connection-steps.ts'
import type { SshAccess } from './ssh-access.ts'

/** Roles that the console talks to. */
const ROLES: readonly NodeRole[] = ['oss', 'mds', 'scheduler', 'controller']

/** A server as everything above knows it. */
class LiveNode implements NodeConnection {
  readonly host: string
  readonly roles: readonly NodeRole[]
  readonly #server: LiveServer

  constructor(roles: readonly NodeRole[], server: LiveServer) {
    this.host = server.host
    this.roles = roles
    this.#server = server
  }

  get timers(): TimerKind {
    return this.#server.facts?.timers ?? 'none'
  }

  exec(command: string): Promise<ExecResult> {
    return this.#server.exec(command)
  }

  literal(command: string): string {
    return this.#server.literal(command)
  }
}

export const nameOf = ({ name, host }: ServerInput): string => (name === '' ? host : name)

/** Names of servers that differ from each other: with the port where several share a host. */
export function namesOf(servers: readonly ServerInput[]): string[] {
  const names = servers.map(nameOf)
  const withPort = names.map((name, i) =>
    names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}:${servers[i]?.port ?? 22}`,
  )
  // The same entry twice is two servers of one address: the second is told by its place.
  return withPort.map((name, i) => (withPort.indexOf(name) === i ? name : `${name}#${i + 1}`))
}

export class LiveServer {
  readonly input: ServerInput
  /** Where the entry leads; the reason where it leads nowhere. */
  readonly address: { readonly text: string; readonly via: string } | Failure
  readonly session: Session | undefined
  /** What was found out the last time it was asked. */
  facts: NodeFacts | undefined
  /** Why it is not read although it is connected. */
  refusal: Failure | undefined
  /** When it answered for the last time, Unix ms. */
  foundMs: number | undefined
  readonly ignored: readonly string[]
  #steps: readonly CheckStep[] = []
  #gated: NodeConnection | undefined
  #finding: Promise<void> | undefined
  readonly #access: SshAccess
  #off: () => void = () => undefined
  readonly #listeners = new Set<() => void>()

  /** What it is called here. */
  readonly host: string

  /** @param host  what it is called where several share a host; `nameOf` by default. */
  constructor(input: ServerInput, access: SshAccess, host: string = nameOf(input)) {
    this.input = input
    this.host = host
    this.#access = access
    const resolved = access.resolve(input)
    if (resolved.ok) {
      const { endpoint, ignored } = resolved.value
      const at = (e: { user: string; host: string; port: number }): string =>
        `${e.user}@${e.host}${e.port === 22 ? '' : `:${e.port}`}`
      this.address = { text: at(endpoint), via: endpoint.jumps.map(at).join(', ') }
      this.session = access.session(resolved.value)
      this.#off = this.session.onState((state) => this.#followed(state))
      this.ignored = ignored.map((i) => `${i.where}: ${i.setting} ${i.why}`)
    } else {
      this.address = resolved.error
      this.session = undefined
      this.ignored = []
    }
  }

  get state(): SessionState {
    return this.session?.state ?? { kind: 'refused', failure: this.address as never, sinceMs: 0 }
  }

  /** The checklist as it stands: the way there, then what was found. */
  get steps(): readonly CheckStep[] {
    return [...connectionSteps(this), ...this.#steps]
  }

  /** Whether it can be read: connected, found out about, and with the rights that its numbers need. */
  get isReady(): boolean {
    return this.state.kind === 'connected' && this.facts !== undefined && this.refusal === undefined
  }

  /** Calls `listener` at every change. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #changed(): void {
    for (const l of [...this.#listeners]) l()
  }

  /** The server in the roles that the console talks to; undefined where it has none of them. */
  node(roles: readonly string[]): NodeConnection | undefined {
    const mine = ROLES.filter((r) => roles.includes(r))
    return mine.length === 0 ? undefined : new LiveNode(mine, this)
  }

  /** Connects and finds out what it is. Resolves when that is known, or when it is known why not. */
  async bring(): Promise<void> {
    if (!this.session) return this.#changed()
    this.#access.hold(this.session, this)
    await this.session.connect()
    // Finding out begins with the change of state.
    await this.#finding
  }

  /** Finds out again what it is, over the connection that stands. */
  async find(): Promise<void> {
    if (this.state.kind === 'connected') this.#followed(this.state)
    await this.#finding
  }

  /** It is not needed any more; its connection ends unless somebody else needs it. */
  leave(): void {
    if (this.session) this.#access.release(this.session, this)
  }

  /** Follows its session no longer; it cannot be used after that. */
  forget(): void {
    this.leave()
    this.#off()
  }

  /** What a command becomes on it; the command itself before it is known how it logs in. */
  literal(command: string): string {
    const text = this.facts && literalOf(command, accessOf(this.facts))
    return text?.ok ? text.value : command
  }

  /** Only what is on the closed list of remote commands reaches the server. */
  async exec(command: string): Promise<ExecResult> {
    if (this.#gated && this.refusal === undefined) return this.#gated.exec(command)
    const { failure } = this.state as { failure?: Failure }
    const why = this.refusal ?? failure
    throw new Error(why ? `${why.what}${why.why === undefined ? '' : `: ${why.why}`}` : `${this.host} is not connected`)
  }

  #followed(state: SessionState): void {
    if (state.kind === 'connected') {
      this.#finding ??= this.#find().finally(() => {
        this.#finding = undefined
        this.#changed()
      })
    } else {
      this.#gated = undefined
    }
    this.#changed()
  }

  async #find(): Promise<void> {
    const { session } = this
    if (!session) return
    const node = new SshNode(this.host, [], session)
    try {
      const found = await discover(
        (command) => node.exec(command),
        this.host,
        (steps) => {
          this.#steps = steps
          this.#changed()
        },
      )
      if (session.state.kind !== 'connected') return
      if (!found.ok) {
        this.refusal = found.error
        return
      }
      this.refusal = undefined
      this.facts = found.value
      this.foundMs = Date.now()
      this.#gated = gate(node, accessOf(found.value))
    } catch (e) {
      // The connection was lost meanwhile: the session says why.
      if (!(e instanceof SshError)) throw e
    }
  }
}
