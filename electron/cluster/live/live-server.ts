/**
 * One server of a live cluster: its session, its discovered facts, and the shells that the rest of the console uses.
 */
import type { CheckStep, ServerInput } from '#core/api/clusters.ts'
import { fail, type Failure, type Result } from '#core/base/result.ts'
import type { CounterSource, ExecResult, NodeConnection, NodeRole, TimerKind } from '../../base/connection.ts'
import { discover, isCutShort } from '../discovery/discover.ts'
import { CounterReader, readerStart } from '../remote/counter-reader.ts'
import type { NodeFacts } from '../remote/facts.ts'
import { accessOf, gate, literalOf } from '../remote/command.ts'
import { READER_PATH } from '../remote/sudo-scope.ts'
import { SERVICES } from '../../base/service.ts'
import type { Session } from '../../ssh/session.ts'
import type { ShellStream } from '../../ssh/shell-stream.ts'
import { SshNode } from '../../ssh/ssh-node.ts'
import type { SessionState } from '../../ssh/state.ts'
import { connectionSteps } from './connection-steps.ts'
import type { SshAccess } from './ssh-access.ts'

/** Pause before facts that may have changed are discovered again; it doubles, ms. */
const FIND_AGAIN_MS = { least: 1000, most: 60_000 } as const
/** Refusals that pass by themselves when a server boots, or during maintenance; others wait for the next connection. */
const MAY_PASS = /^(?:LUSTRE_NOT_LOADED|NO_LCTL|SSH_COMMAND_TIMEOUT)$/

/** Roles used by the console, in the order in which a node names them. */
const ROLES: readonly NodeRole[] = ['oss', 'mds', 'scheduler', 'controller', 'haechi', 'ccpfs']

/**
 * True if a reading of samples was refused because a service or its targets do not exist, contrary to the facts; also if
 * it printed nothing but errors.
 */
function isGone(command: string, { stdout, stderr }: ExecResult): boolean {
  if (stderr === '' || !command.startsWith('lctl get_param ')) return false
  if (stdout === '') return true
  return stderr
    .slice(0, STDERR_MOST)
    .split('\n')
    .some((line) => {
      if (!line.includes('No such file or directory')) return false
      const path = line.replaceAll('/', '.')
      return SAMPLED.some((name) => path.includes(name))
    })
}

/** Server as seen by the rest of the console. */
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

  get counters(): CounterSource | undefined {
    return this.#server.counters
  }

  exec(command: string): Promise<Result<ExecResult>> {
    return this.#server.exec(command)
  }

  literal(command: string): string {
    return this.#server.literal(command)
  }
}

const STDERR_MOST = 16_384
/** Parameters that exist wherever a service or one of its targets does. */
const SAMPLED = Object.values(SERVICES).flatMap((s) => [s.policies, s.jobStats])

export const nameOf = ({ name, host }: ServerInput): string => (name === '' ? host : name)

/** Unique names of servers: with the port if several share a host. */
export function namesOf(servers: readonly ServerInput[]): string[] {
  const names = servers.map(nameOf)
  const withPort = names.map((name, i) =>
    names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}:${servers[i]?.port ?? 22}`,
  )
  // Equal entries are two servers of one address: the second is identified by its position.
  return withPort.map((name, i) => (withPort.indexOf(name) === i ? name : `${name}#${i + 1}`))
}

export class LiveServer {
  readonly input: ServerInput
  /** Destination of the entry; a failure if it cannot be resolved. */
  readonly address: { readonly text: string; readonly via: string } | Failure
  readonly session: Session | undefined
  /** Result of the last discovery. */
  facts: NodeFacts | undefined
  /** Reason why it is not read although it is connected. */
  refusal: Failure | undefined
  /** Time of its last answer, Unix ms. */
  foundMs: number | undefined
  readonly ignored: readonly string[]
  #steps: readonly CheckStep[] = []
  #gated: NodeConnection | undefined
  #counters: CounterReader | undefined
  #finding: Promise<void> | undefined
  /** Set while the server is in use: otherwise it is not rediscovered automatically. */
  #isHeld = false
  #again: NodeJS.Timeout | undefined
  #pauseMs: number = FIND_AGAIN_MS.least
  /** performance.now() at the end of the last discovery. */
  #foundAtMs = -Infinity
  readonly #access: SshAccess
  #off: () => void = () => undefined
  readonly #listeners = new Set<() => void>()

  /** Name of the server in the console. */
  readonly host: string

  /** @param host  name if several servers share a host; `nameOf` by default. */
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

  /** Current checklist: the connection, then the findings. */
  get steps(): readonly CheckStep[] {
    return [...connectionSteps(this), ...this.#steps, ...this.#readerSteps()]
  }

  /** Streaming reader of a storage or metadata server; undefined while there is nothing to read. */
  get counters(): CounterSource | undefined {
    return this.isReady ? this.#counters : undefined
  }

  /** True if it can be read: connected, discovered since then, and with the rights that its numbers need. */
  get isReady(): boolean {
    return this.state.kind === 'connected' && this.#gated !== undefined && this.refusal === undefined
  }

  /** Calls `listener` at every change. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #changed(): void {
    for (const l of [...this.#listeners]) l()
  }

  /** The server in the roles used by the console; undefined if it has none of them. */
  node(roles: readonly string[]): NodeConnection | undefined {
    const ownRoles = ROLES.filter((r) => roles.includes(r))
    return ownRoles.length === 0 ? undefined : new LiveNode(ownRoles, this)
  }

  /** Connects and discovers it. Resolves with the result, or the reason for its failure. */
  async bring(): Promise<void> {
    if (!this.session) return this.#changed()
    this.#isHeld = true
    this.#access.hold(this.session, this)
    await this.session.connect()
    // Discovery starts with the change of state.
    await this.#finding
  }

  /** Rediscovers it over the existing connection. */
  async find(): Promise<void> {
    if (this.state.kind === 'connected') this.#followed(this.state)
    await this.#finding
  }

  /** Releases the server; its connection ends unless it is used elsewhere. */
  leave(): void {
    this.#isHeld = false
    this.#stopFindingAgain()
    if (this.session) this.#access.release(this.session, this)
  }

  /** Unsubscribes from its session; it cannot be used after that. */
  forget(): void {
    this.leave()
    this.#off()
  }

  /** Rewrites a command for the server; returns it unchanged while the login is unknown. */
  literal(command: string): string {
    const text = this.facts && literalOf(command, accessOf(this.facts))
    return text?.ok ? text.value : command
  }

  /**
   * Runs a command; only those on the closed list of remote commands are sent to the server. Failures: those of its
   * session; the reason why it is not read, or not connected; REMOTE_COMMAND_REFUSED.
   */
  async exec(command: string): Promise<Result<ExecResult>> {
    if (this.#gated && this.refusal === undefined) {
      const ran = await this.#gated.exec(command)
      if (ran.ok && isGone(command, ran.value)) this.#findAgain()
      return ran
    }
    const { failure } = this.state as { failure?: Failure }
    return fail(this.refusal ?? failure ?? { code: 'SSH_NOT_CONNECTED', what: `${this.host} is not connected` })
  }

  #followed(state: SessionState): void {
    if (state.kind === 'connected') {
      // Replaces a scheduled discovery.
      clearTimeout(this.#again)
      this.#again = undefined
      this.#finding ??= this.#find().finally(() => {
        this.#finding = undefined
        this.#foundAtMs = performance.now()
        if (this.#isUnsettled) this.#findAgain()
        this.#changed()
      })
    } else {
      this.#gated = undefined
      this.#endCounters()
      this.#stopFindingAgain()
    }
    this.#changed()
  }

  /**
   * True if the findings may soon change: Lustre is not loaded, or no target is mounted yet, as while a server boots.
   */
  get #isUnsettled(): boolean {
    if (this.state.kind !== 'connected') return false
    if (this.refusal) return MAY_PASS.test(this.refusal.code)
    return this.facts !== undefined && this.facts.roles.length === 0
  }

  /** Rediscovers after a pause, as long as the connection lasts. */
  #findAgain(): void {
    if (this.#again || this.#finding || !this.#isHeld) return
    // No recent problem.
    if (performance.now() - this.#foundAtMs > 2 * FIND_AGAIN_MS.most) this.#pauseMs = FIND_AGAIN_MS.least
    this.#again = setTimeout(() => void this.find(), this.#pauseMs)
    this.#again.unref()
    this.#pauseMs = Math.min(FIND_AGAIN_MS.most, 2 * this.#pauseMs)
  }

  #stopFindingAgain(): void {
    clearTimeout(this.#again)
    this.#again = undefined
    this.#pauseMs = FIND_AGAIN_MS.least
  }

  #beginCounters(facts: NodeFacts, session: Session): void {
    this.#endCounters()
    if (!facts.roles.includes('oss') && !facts.roles.includes('mds')) return
    const text = readerStart(accessOf(facts))
    const start = async (): Promise<Result<ShellStream>> => (text.ok ? session.stream(text.value) : text)
    this.#counters = new CounterReader(start, () => this.#changed())
  }

  #endCounters(): void {
    this.#counters?.close()
    this.#counters = undefined
  }

  /** Last step of the checklist, once it has been tried. */
  #readerSteps(): CheckStep[] {
    const { why = '', isReading = false, lctlNames = [] } = this.#counters ?? {}
    if (why === '' && !isReading) return []
    const login = this.facts?.isRoot === true ? 'sh, with the text of sluice-read' : `sudo -n ${READER_PATH}`
    const others = lctlNames.length === 0 ? '' : `, but lctl for ${lctlNames.join(', ')}: not readable as files`
    const detail = isReading ? `one process for all readings of counters${others}` : `counters are read by lctl: ${why}`
    return [{ id: 'reader', command: login, state: isReading ? 'ok' : 'skipped', tookMs: null, detail, fix: '' }]
  }

  async #find(): Promise<void> {
    const { session } = this
    if (!session) return
    const node = new SshNode(this.host, [], session)
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
      // The connection was lost meanwhile: the session reports why.
      if (!isCutShort(found.error)) this.refusal = found.error
      return
    }
    this.refusal = undefined
    this.facts = found.value
    this.foundMs = Date.now()
    this.#gated = gate(node, accessOf(found.value))
    this.#beginCounters(found.value, session)
  }
}
