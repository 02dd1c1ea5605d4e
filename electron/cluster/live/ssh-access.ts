/**
 * SSH access of this machine to servers: ~/.ssh/config, known hosts, the trust store, keys, and one connection per
 * server.
 */
import { randomInt } from 'node:crypto'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { resolveEndpoint, type ConfigSettings, type Resolved } from '../../ssh/config.ts'
import type { SshResult } from '../../ssh/failures.ts'
import type { KnownHostsFile } from '../../ssh/known-hosts.ts'
import type { SshLimits } from '../../ssh/limits.ts'
import { KeyRing, type PromptPassphrase } from '../../ssh/private-key.ts'
import type { Session } from '../../ssh/session.ts'
import { Sessions } from '../../ssh/sessions.ts'
import { TrustStore } from '../../ssh/trust-store.ts'
import type { HostKeyReport } from '../../ssh/host-key-report.ts'
import { HostKeys, canPromptToTrust } from '../../ssh/verdict.ts'
import type { ServerInput } from '#core/api/clusters.ts'

/** Untrusted keys that servers presented; the newest are remembered. */
const SHOWN = 1024

export interface SshAccessOptions {
  /** The console's own host keys; undefined: nothing is remembered. */
  readonly trustStore?: string | undefined
  /** known_hosts files, read only; those of the user and of the machine by default. */
  readonly knownHosts?: readonly KnownHostsFile[] | undefined
  /** Fingerprints that are trusted for this run. */
  readonly trusted?: readonly string[] | undefined
  /** ~/.ssh/config by default; null: no file. */
  readonly configFile?: string | null | undefined
  readonly home?: string | undefined
  readonly user?: string | undefined
  readonly agentSocket?: string | undefined
  readonly ask?: PromptPassphrase | undefined
  readonly limits?: SshLimits | undefined
  /** Sessions reconnect automatically after a loss. */
  readonly reconnects?: boolean | undefined
}

export class SshAccess {
  readonly store: TrustStore | undefined
  readonly config: ConfigSettings
  /** Files that are read, to show the origin of a key or a host. */
  readonly files: {
    readonly config: string | undefined
    readonly knownHosts: readonly string[]
    readonly agentSocket: string | undefined
    readonly trustStore: string | undefined
  }
  readonly #sessions: Sessions
  readonly #followed = new WeakSet<Session>()
  readonly #holders = new WeakMap<Session, Set<object>>()
  readonly #hostKeys: HostKeys
  /** Reports on these keys, with the host keys of their checks. */
  readonly #shown = new Map<string, { readonly report: HostKeyReport; readonly keys: HostKeys }>()

  constructor(o: SshAccessOptions = {}) {
    const home = o.home ?? homedir()
    this.store = o.trustStore === undefined ? undefined : new TrustStore(o.trustStore)
    const file = o.configFile === undefined ? join(home, '.ssh/config') : (o.configFile ?? undefined)
    this.config = { file, home, user: o.user ?? userInfo().username }
    const knownHosts = o.knownHosts ?? [
      { path: join(home, '.ssh/known_hosts'), isRequired: false },
      { path: join(home, '.ssh/known_hosts2'), isRequired: false },
      { path: '/etc/ssh/ssh_known_hosts', isRequired: false },
    ]
    const agentSocket = o.agentSocket ?? process.env['SSH_AUTH_SOCK']
    this.files = { config: file, knownHosts: knownHosts.map((k) => k.path), agentSocket, trustStore: o.trustStore }
    this.#hostKeys = new HostKeys({ knownHosts, store: this.store, trusted: o.trusted })
    this.#sessions = new Sessions(this.#hostKeys, {
      ring: new KeyRing(o.ask),
      agentSocket,
      random: () => randomInt(1 << 30) / (1 << 30),
      limits: o.limits,
      reconnects: o.reconnects,
    })
  }

  /** Resolves a server's entry. Failures: SSH_NAME, SSH_CONFIG. */
  resolve(s: ServerInput): SshResult<Resolved> {
    return resolveEndpoint(s.host, this.config, {
      user: s.user === '' ? undefined : s.user,
      port: s.port ?? undefined,
      identity: s.identity === '' ? undefined : s.identity,
      // An empty jump field means no jump host, even if the file names one.
      jump: s.jump === null ? undefined : s.jump === '' ? null : s.jump,
    })
  }

  session(resolved: Resolved): Session {
    const session = this.#sessions.to(resolved.endpoint)
    if (!this.#followed.has(session)) {
      this.#followed.add(session)
      const { endpoint } = resolved
      const keys = this.#hostKeys.withKnownHosts([endpoint, ...endpoint.jumps].flatMap((e) => e.knownHosts))
      session.onState((state) => {
        if (state.kind === 'refused' && state.failure.hostKey) this.#note(state.failure.hostKey, keys)
      })
    }
    return session
  }

  /** Adds a holder to a session. */
  hold(session: Session, holder: object): void {
    const of = this.#holders.get(session) ?? new Set<object>()
    this.#holders.set(session, of.add(holder))
  }

  /** Removes a holder from a session; it ends with the last one. */
  release(session: Session, holder: object): void {
    const of = this.#holders.get(session)
    if (of?.delete(holder) && of.size === 0) session.stop()
  }

  /**
   * Report on a key that a server really presented and that a person may trust; undefined for any other, and for one
   * that is contradicted by keys known since.
   */
  openKey(host: string, port: number, type: string, fingerprint: string): HostKeyReport | undefined {
    const shown = this.#shown.get(`${host} ${port} ${type} ${fingerprint}`)
    if (!shown || !canPromptToTrust(shown.report)) return undefined
    return shown.keys.mayTrust(host, port, type, fingerprint) ? shown.report : undefined
  }

  #note(k: HostKeyReport, keys: HostKeys): void {
    const key = `${k.host} ${k.port} ${k.type} ${k.fingerprint}`
    this.#shown.delete(key)
    this.#shown.set(key, { report: k, keys })
    const [oldest] = this.#shown.keys()
    if (this.#shown.size > SHOWN && oldest !== undefined) this.#shown.delete(oldest)
  }

  stop(): void {
    this.#sessions.stop()
  }
}
