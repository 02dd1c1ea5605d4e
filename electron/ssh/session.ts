/**
 * Session to one server: connects, keeps the connection alive, reconnects after a loss with growing waits, and stops at
 * failures that only a person can resolve (host key, user, algorithms).
 *
 * The host keys are the first argument because there is no session without them. A jump host is a session too, shared
 * by all that go through it and verified under its own name.
 */
import type { Client } from 'ssh2'
import { fail, ok } from '#core/base/result.ts'
import type { ExecResult } from '../base/connection.ts'
import { backoffMs } from './backoff.ts'
import { Commands, type CommandOptions } from './commands.ts'
import type { SshEndpoint } from './config.ts'
import { isRefusal, plainLine, type SshFailure, type SshResult } from './failures.ts'
import { handshake, type Authenticated } from './handshake.ts'
import { LIMITS, type SshLimits } from './limits.ts'
import type { KeyRing } from './private-key.ts'
import { reachByTcp, reachThrough } from './reach.ts'
import type { ShellStream } from './shell-stream.ts'
import type { Connected, SessionState, Step, StepTime } from './state.ts'
import type { HostKeys } from './verdict.ts'

export interface SessionParts {
  readonly ring: KeyRing
  /** SSH_AUTH_SOCK. */
  readonly agentSocket?: string | undefined
  /** Uniform in [0, 1): jitter of the waits. */
  readonly random: () => number
  readonly limits?: SshLimits | undefined
  /** Session of the jump host. */
  readonly via?: Session | undefined
  /** Reconnects automatically after a loss; not set by a command that runs once. */
  readonly reconnects?: boolean | undefined
  /** Unix ms. */
  readonly now?: (() => number) | undefined
}

interface Live {
  readonly client: Client
  readonly commands: Commands
  readonly sinceMs: number
  readonly connected: Connected
}

export class Session {
  readonly endpoint: SshEndpoint
  readonly #hostKeys: HostKeys
  readonly #parts: SessionParts
  readonly #limits: SshLimits
  readonly #listeners = new Set<(state: SessionState) => void>()
  /** Sessions that use this one as jump host. */
  readonly #through = new Set<Session>()
  #state: SessionState = { kind: 'idle' }
  #live: Live | undefined
  #attempt: Promise<SshResult<Connected>> | undefined
  #abort: AbortController | undefined
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #isWanted = false

  constructor(hostKeys: HostKeys, endpoint: SshEndpoint, parts: SessionParts) {
    this.endpoint = endpoint
    this.#hostKeys = endpoint.knownHosts.length > 0 ? hostKeys.withKnownHosts(endpoint.knownHosts) : hostKeys
    this.#parts = parts
    this.#limits = parts.limits ?? LIMITS
  }

  get state(): SessionState {
    return this.#state
  }

  /** @returns function that removes the listener. */
  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Connects, or waits for the attempt in progress. After a transient failure the session keeps trying until it is
   * stopped; after a refusal it waits for the next call.
   *
   * @returns result of this attempt.
   */
  connect(): Promise<SshResult<Connected>> {
    this.#isWanted = true
    clearTimeout(this.#retry)
    return this.#begin()
  }

  /** Runs in the command channel, in queue order. Failures: see failures.ts. */
  run(command: string, options?: CommandOptions): Promise<SshResult<ExecResult>> {
    return this.#live ? this.#live.commands.run(command, options) : Promise.resolve(this.#notConnected())
  }

  /** Runs on a channel of its own, concurrently. */
  exec(command: string, options?: CommandOptions): Promise<SshResult<ExecResult>> {
    return this.#live ? this.#live.commands.exec(command, options) : Promise.resolve(this.#notConnected())
  }

  /** Starts a program that stays until its stream is closed; see ShellStream. */
  stream(text: string): Promise<SshResult<ShellStream>> {
    return this.#live ? this.#live.commands.stream(text) : Promise.resolve(this.#notConnected())
  }

  /** Ends the connection and all attempts. Jump hosts are closed with the last session through them. */
  stop(): void {
    this.#isWanted = false
    this.#close()
    this.#failures = 0
    this.#set({ kind: 'idle' })
    this.#parts.via?.leave(this)
  }

  /** Client for a session that uses this one as jump host. */
  async enter(who: Session): Promise<SshResult<Client>> {
    this.#through.add(who)
    const { state } = this
    if (state.kind === 'refused') return fail(state.failure)
    // Many sessions may use one jump host; they do not cause extra attempts.
    if (state.kind === 'lost' && this.#now() < this.#dueMs) return fail(state.failure)
    const connected = await this.#begin()
    if (!connected.ok) return connected
    return this.#live ? ok(this.#live.client) : this.#notConnected()
  }

  leave(who: Session): void {
    if (this.#through.delete(who) && this.#through.size === 0 && !this.#isWanted) this.stop()
  }

  #dueMs = 0
  #now = (): number => (this.#parts.now ?? Date.now)()

  #set(state: SessionState): void {
    this.#state = state
    for (const listener of [...this.#listeners]) listener(state)
  }

  #notConnected(): SshResult<never> {
    const { state } = this
    const why =
      state.kind === 'lost' || state.kind === 'refused' ? (state.failure.why ?? state.failure.what) : state.kind
    return fail({ code: 'SSH_NOT_CONNECTED', what: `${this.endpoint.host} is not connected`, why })
  }

  #close(): void {
    clearTimeout(this.#retry)
    this.#abort?.abort()
    this.#attempt = undefined
    const live = this.#live
    this.#live = undefined
    live?.commands.stop()
    live?.client.end()
  }

  #begin(): Promise<SshResult<Connected>> {
    if (this.#live) return Promise.resolve(ok(this.#live.connected))
    if (this.#attempt) return this.#attempt
    const abort = new AbortController()
    this.#abort = abort
    const attempt = this.#try(abort.signal).then((result) => {
      // A stopped attempt must not change the state; another one may already be running.
      if (!abort.signal.aborted) {
        this.#attempt = undefined
        if (!result.ok) this.#failed(result.error)
      }
      return result
    })
    this.#attempt = attempt
    return attempt
  }

  async #try(signal: AbortSignal): Promise<SshResult<Connected>> {
    const done: StepTime[] = []
    let step: Step | undefined
    let beganMs = 0
    const finish = (): void => {
      if (step !== undefined) done.push({ step, tookMs: performance.now() - beganMs })
      step = undefined
    }
    const onStep = (next: Step): void => {
      if (signal.aborted) return
      finish()
      step = next
      beganMs = performance.now()
      this.#set({ kind: 'connecting', step: next, attempt: this.#failures + 1, done: [...done] })
    }
    const authenticated = await this.#authenticate(onStep, signal)
    if (!authenticated.ok) return authenticated
    const { client } = authenticated.value
    // From here on the connection may be lost at any time.
    const loss = new Promise<string>((resolve) => {
      client.on('error', (e) => resolve(plainLine(e.message)))
      client.on('close', () => resolve('the connection was closed'))
    })
    onStep('shell')
    const commands = new Commands(client, this.#limits)
    const first = await Promise.race([commands.start(), loss])
    finish()
    if (signal.aborted || first !== undefined) {
      client.end()
      const code = signal.aborted ? 'SSH_CANCELLED' : 'SSH_LOST'
      return fail({ code, what: `The connection to ${this.endpoint.host} was lost`, why: first ?? 'it was stopped' })
    }
    return this.#connected(authenticated.value, commands, done, loss)
  }

  async #authenticate(onStep: (step: Step) => void, signal: AbortSignal): Promise<SshResult<Authenticated>> {
    const { host, port, user, identities, identitiesOnly } = this.endpoint
    const { via, ring, agentSocket } = this.#parts
    let stream
    if (via) {
      onStep('jump')
      const jump = await via.enter(this)
      if (!jump.ok) return fail({ ...jump.error, what: `Jump host ${via.endpoint.host}: ${jump.error.what}` })
      stream = await reachThrough(jump.value, via.endpoint.host, host, port, this.#limits.connectMs)
    } else stream = await reachByTcp(host, port, this.#limits.connectMs, onStep, signal)
    if (!stream.ok) return stream
    const choice = { files: identities, isOnly: identitiesOnly, agentSocket }
    const { value } = stream
    const limits = this.#limits
    return handshake(
      { host, port, user, hostKeys: this.#hostKeys, identities: choice, ring, limits, onStep, signal },
      value,
    )
  }

  #connected(
    a: Authenticated,
    commands: Commands,
    steps: readonly StepTime[],
    loss: Promise<string>,
  ): SshResult<Connected> {
    const { software, negotiated, hostKey, offered, client } = a
    const connected: Connected = {
      software,
      negotiated,
      hostKey,
      offered,
      steps,
      // A shell that was slow to start may become available later.
      get commands() {
        return commands.mode
      },
    }
    const live: Live = { client, commands, sinceMs: this.#now(), connected }
    this.#live = live
    this.#set({ kind: 'connected', sinceMs: live.sinceMs, connected })
    void loss.then((why) => {
      if (this.#live !== live) return
      this.#live = undefined
      client.end()
      if (this.#now() - live.sinceMs >= this.#limits.stableMs) this.#failures = 0
      this.#failed({ code: 'SSH_LOST', what: `The connection to ${this.endpoint.host} was lost`, why })
    })
    return ok(connected)
  }

  #failed(failure: SshFailure): void {
    this.#failures++
    const sinceMs = this.#now()
    if (isRefusal(failure)) return this.#set({ kind: 'refused', failure, sinceMs })
    const waitMs = backoffMs(this.#limits.backoff, this.#failures, this.#parts.random())
    this.#dueMs = sinceMs + waitMs
    const isBack = this.#isWanted && (this.#parts.reconnects ?? true)
    if (isBack) this.#retry = setTimeout(() => void this.#begin(), waitMs)
    const retry = { attempt: this.#failures, ...this.#limits.backoff }
    this.#set({
      kind: 'lost',
      failure,
      sinceMs,
      ...(isBack ? { retryAtMs: this.#dueMs, retry } : { retryAtMs: undefined }),
    })
  }
}
