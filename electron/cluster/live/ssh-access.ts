/** How this machine reaches servers: ~/.ssh/config, known hosts, the trust store, keys, and one connection a server. */
import { randomInt } from 'node:crypto'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { resolveEndpoint, type ConfigSettings, type Resolved } from '../../ssh/config.ts'
import type { SshResult } from '../../ssh/failures.ts'
import type { KnownHostsFile } from '../../ssh/known-hosts.ts'
import type { SshLimits } from '../../ssh/limits.ts'
import { KeyRing, type AskPassphrase } from '../../ssh/private-key.ts'
import type { Session } from '../../ssh/session.ts'
import { Sessions } from '../../ssh/sessions.ts'
import { TrustStore } from '../../ssh/trust-store.ts'
import type { HostKeyReport } from '../../ssh/host-key-report.ts'
import { HostKeys, isOpenToTrust } from '../../ssh/verdict.ts'
import type { ServerInput } from '#core/api/clusters.ts'

/** Keys that servers showed and nobody vouched for; the newest are remembered. */
const SHOWN = 1024

export interface SshAccessOptions {
  /** The console's own keys of hosts; undefined: nothing is remembered. */
  readonly trustStore?: string | undefined
  /** Files of known hosts, read only; those of the user and of the machine by default. */
  readonly knownHosts?: readonly KnownHostsFile[] | undefined
  /** Fingerprints that are vouched for on this run. */
  readonly trusted?: readonly string[] | undefined
  /** ~/.ssh/config by default; null: none is read. */
  readonly configFile?: string | null | undefined
  readonly home?: string | undefined
  readonly user?: string | undefined
  readonly agentSocket?: string | undefined
  readonly ask?: AskPassphrase | undefined
  readonly limits?: SshLimits | undefined
  /** Whether sessions come back by themselves after a loss. */
  readonly comesBack?: boolean | undefined
}

export class SshAccess {
  readonly store: TrustStore | undefined
  readonly config: ConfigSettings
  /** What is read, for whoever asks where a key or a host is known from. */
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
  /** With what is known where they were shown. */
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
      comesBack: o.comesBack,
    })
  }

  /** Where a server's entry leads. Failures: SSH_NAME, SSH_CONFIG. */
  resolve(s: ServerInput): SshResult<Resolved> {
    return resolveEndpoint(s.host, this.config, {
      user: s.user === '' ? undefined : s.user,
      port: s.port ?? undefined,
      identity: s.identity === '' ? undefined : s.identity,
      // An empty jump is a choice, too: none, whatever the file says.
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

  /** Somebody needs the session from now on. */
  hold(session: Session, holder: object): void {
    const of = this.#holders.get(session) ?? new Set<object>()
    this.#holders.set(session, of.add(holder))
  }

  /** It is not needed by `holder` any more; it ends with the last one that needs it. */
  release(session: Session, holder: object): void {
    const of = this.#holders.get(session)
    if (of?.delete(holder) && of.size === 0) session.stop()
  }

  /**
   * A key that a server really showed and that a person may vouch for; undefined for any other, and for one that what has become known
   * since speaks against.
   */
  openKey(host: string, port: number, type: string, fingerprint: string): HostKeyReport | undefined {
    const shown = this.#shown.get(`${host} ${port} ${type} ${fingerprint}`)
    if (!shown || !isOpenToTrust(shown.report)) return undefined
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
