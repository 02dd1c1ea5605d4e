/**
 * SSH handshake, from a byte stream to an authenticated connection: versions, algorithms, host key, and only then the
 * user's keys.
 *
 * Every outcome is one Result. Authentication is by public key only: no password is ever sent, and a server that
 * requires one is refused. No forwarding is requested, and channels that a server opens towards the console are
 * refused.
 */
import { formatTimeout } from '#core/base/figure-text.ts'
import type { Duplex } from 'node:stream'
import { Client, type AuthenticationType, type NegotiatedAlgorithms } from 'ssh2'
import { fail, ok } from '#core/base/result.ts'
import { algorithmsFor, negotiatedOf, weakAlgorithms, weakOffer, type Negotiated } from './algorithms.ts'
import { plainLine, type SshCode, type SshResult } from './failures.ts'
import { Identities, type IdentityChoice, type Offered } from './identities.ts'
import type { SshLimits } from './limits.ts'
import type { KeyRing } from './private-key.ts'
import { ServerOffer } from './server-offer.ts'
import type { Step } from './state.ts'
import type { HostKeyReport } from './host-key-report.ts'
import { hostKeyFailure, type HostKeys } from './verdict.ts'

export interface Greeting {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly hostKeys: HostKeys
  readonly identities: IdentityChoice
  readonly ring: KeyRing
  readonly limits: SshLimits
  readonly onStep: (step: Step) => void
  readonly signal: AbortSignal
}

export interface Authenticated {
  readonly client: Client
  readonly stream: Duplex
  readonly software: string
  readonly negotiated: Negotiated
  readonly hostKey: HostKeyReport
  readonly offered: readonly Offered[]
}

const NEWER_SERVER = 'The server needs a newer OpenSSH, or modern algorithms in its configuration.'

const level = (e: Error): string => ('level' in e && typeof e.level === 'string' ? e.level : '')

class Handshake {
  readonly #g: Greeting
  readonly #stream: Duplex
  readonly #client = new Client()
  readonly #offer = new ServerOffer()
  readonly #identities: Identities
  readonly #resolve: (result: SshResult<Authenticated>) => void
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  #isAuthenticating = false
  #hasOffered = false
  #report: HostKeyReport | undefined
  #negotiated: Negotiated | undefined
  #methods: readonly AuthenticationType[] = []
  #isPartial = false

  constructor(g: Greeting, stream: Duplex, resolve: (result: SshResult<Authenticated>) => void) {
    this.#g = g
    this.#stream = stream
    this.#resolve = resolve
    this.#identities = new Identities(g.identities, g.ring, (isWaiting) => this.#wait(isWaiting))
  }

  start(): void {
    const { user, limits, host, port, hostKeys, signal } = this.#g
    const client = this.#client
    this.#g.onStep('host key')
    this.#deadline(limits.handshakeMs, 'the key exchange was not completed')
    signal.addEventListener('abort', this.#abort)
    client.on('error', (e) => this.#error(e))
    client.on('close', () => this.#lost('the server closed the connection'))
    client.on('handshake', (n) => this.#agreed(n))
    client.on('ready', () => this.#ready())
    if (signal.aborted) return this.#abort()
    client.connect({
      sock: this.#stream,
      username: user,
      hostVerifier: (blob: Buffer) => this.#verify(blob),
      algorithms: algorithmsFor(hostKeys.knownTypes(host, port)),
      authHandler: (methods, isPartial, next) => this.#nextMethod(methods, isPartial, next),
      readyTimeout: 0,
      keepaliveInterval: limits.keepaliveMs,
      keepaliveCountMax: limits.keepaliveMisses,
    })
    // After connect(), which pauses the stream: nothing is read before ssh2 reads too.
    const listen = (chunk: Buffer): void => {
      if (!this.#offer.push(chunk)) this.#stream.off('data', listen)
    }
    this.#stream.on('data', listen)
  }

  get #name(): string {
    return `${this.#g.user}@${this.#g.host}:${this.#g.port}`
  }

  #end(result: SshResult<Authenticated>): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#g.signal.removeEventListener('abort', this.#abort)
    if (!result.ok) {
      this.#client.end()
      this.#stream.destroy()
    }
    this.#resolve(result)
  }

  #refuse(code: SshCode, what: string, why: string, next?: string): void {
    this.#end(fail({ code, what, why, next }))
  }

  readonly #abort = (): void =>
    this.#refuse('SSH_CANCELLED', `Connecting to ${this.#name} was canceled`, 'it was stopped')

  #deadline(ms: number, why: string): void {
    clearTimeout(this.#timer)
    const late = (): void =>
      this.#refuse('SSH_TIMEOUT', `${this.#name} did not answer`, `${why} within ${formatTimeout(ms)}`)
    this.#timer = setTimeout(late, ms)
  }

  /** Suspends the deadline while a person looks for a passphrase. */
  #wait(isWaiting: boolean): void {
    if (this.#isOver) return
    if (isWaiting) clearTimeout(this.#timer)
    else this.#deadline(this.#g.limits.authMs, 'the user was not authenticated')
  }

  /** Also called on rekeying; the server's key must be unchanged then. */
  #verify(blob: Buffer): boolean {
    const report = this.#g.hostKeys.judge(this.#g.host, this.#g.port, blob)
    if (this.#report?.verdict === 'match') return this.#report.fingerprint === report.fingerprint
    this.#report = report
    const failure = hostKeyFailure(report)
    if (failure) this.#end(fail(failure))
    return failure === undefined
  }

  #agreed(n: NegotiatedAlgorithms): void {
    if (this.#negotiated) return
    this.#negotiated = negotiatedOf(n, this.#offer)
    const weak = weakAlgorithms(this.#negotiated)
    if (weak !== undefined) {
      return this.#refuse('SSH_ALGORITHMS', `The connection to ${this.#name} is refused`, weak, NEWER_SERVER)
    }
    this.#isAuthenticating = true
    this.#g.onStep('auth')
    this.#deadline(this.#g.limits.authMs, 'the user was not authenticated')
  }

  /** `none` first: a server lists its methods in the refusal. Then the keys, once. */
  #nextMethod(methods: AuthenticationType[] | null, isPartial: boolean | null, next: (method: never) => void): void {
    const username = this.#g.user
    if (methods === null) return next({ type: 'none', username } as never)
    this.#methods = methods
    this.#isPartial = isPartial ?? false
    const isFirst = !this.#hasOffered
    this.#hasOffered = true
    if (!isFirst || !methods.includes('publickey')) return next(false as never)
    next({ type: 'agent', username, agent: this.#identities } as never)
  }

  #ready(): void {
    if (this.#isOver || !this.#report || !this.#negotiated) return
    this.#end(
      ok({
        client: this.#client,
        stream: this.#stream,
        software: plainLine(this.#offer.software ?? ''),
        negotiated: this.#negotiated,
        hostKey: this.#report,
        offered: this.#identities.offered,
      }),
    )
  }

  #error(e: Error): void {
    const kind = level(e)
    // One key could not sign; the next one is tried. The reason is in the notes.
    if (this.#isOver || kind === 'agent') return
    if (kind === 'client-authentication') return this.#denied()
    if (this.#isAuthenticating && 'code' in e && typeof e.code === 'number') return this.#denied(plainLine(e.message))
    const weak = weakOffer(this.#offer)
    if (!this.#negotiated && weak !== undefined) {
      return this.#refuse('SSH_ALGORITHMS', `${this.#name} offers only unsafe algorithms`, weak, NEWER_SERVER)
    }
    if (kind === 'client-socket' || kind === 'client-timeout') return this.#lost(e.message)
    this.#refuse('SSH_HANDSHAKE', `The key exchange with ${this.#name} failed`, plainLine(e.message))
  }

  #lost(why: string): void {
    const phase = this.#isAuthenticating ? 'while authenticating' : 'during the key exchange'
    this.#refuse('SSH_LOST', `The connection to ${this.#name} was lost ${phase}`, plainLine(why))
  }

  #denied(message = ''): void {
    const { offered, notes } = this.#identities
    const what = `${this.#name} refused the login`
    const shownNotes = notes.slice(0, 5).map((n) => plainLine(n))
    const wants = this.#methods.filter((m) => m !== 'none').join(', ')
    if (this.#isPartial || (wants !== '' && !wants.includes('publickey'))) {
      const next = 'Let its sshd accept this login with a public key alone.'
      const why = `it requires ${plainLine(wants)}; only public keys are supported`
      return this.#refuse('SSH_AUTH_METHOD', what, why, next)
    }
    if (offered.length === 0) {
      const why = ['there is no key to offer', ...shownNotes].join('; ')
      return this.#refuse('SSH_AUTH_NO_KEY', what, why, 'Add a key to the agent, or set IdentityFile.')
    }
    const tried = offered.slice(0, 6).map((o) => `${o.fingerprint} (${o.from})`)
    const why = [message, `offered: ${tried.join(', ')}${offered.length > 6 ? ', …' : ''}`, ...shownNotes].filter(
      (t) => t !== '',
    )
    const next =
      offered.length > 5 ? 'Servers stop after six keys: set IdentityFile and IdentitiesOnly.' : 'Check user and key.'
    this.#refuse('SSH_AUTH_REFUSED', what, why.join('; '), next)
  }
}

/** @param stream  owned by the handshake from here on: destroyed if no connection results. */
export function handshake(g: Greeting, stream: Duplex): Promise<SshResult<Authenticated>> {
  return new Promise((resolve) => new Handshake(g, stream, resolve).start())
}
