/**
 * Commits one reviewed change: on one server first, which is watched for a while, then on the rest, a few at a time. On
 * every server the expiry timers are made and verified before the rules they stop, everything is recorded before it is
 * sent, and the rules are read back and compared.
 *
 * A server on which anything fails is rolled back; servers that nothing was sent to yet get nothing then. Changes
 * already made elsewhere stay and are reported: end states are known or reported as unknown.
 */
import type { NodeConnection } from '../base/connection.ts'
import type { Service } from '../base/service.ts'
import type { Audit } from '../base/audit.ts'
import { watchCanary, type CanaryCheck, type CanaryWatch } from './canary.ts'
import { ANSWER_MS } from './read-server.ts'
import type { EndState, ServerChange, ServerEnd } from './server-change.ts'
import { ruleTask } from './server-commit.ts'
import type { ServerStep, ServerTask } from './server-task.ts'

/** Servers after the first that are written concurrently. */
export const AT_ONCE = 4
export const CANARY_S = 10

/** Progress of one server in a commit. */
export interface ServerProgress {
  readonly host: string
  readonly state: 'waiting' | ServerStep | 'watching' | EndState
  /** Rule commands sent so far. */
  readonly done: number
  readonly of: number
  readonly detail: string
}

export interface WatchProgress {
  readonly host: string
  readonly leftS: number
  readonly ofS: number
  readonly says: readonly CanaryCheck[]
}

/** Dependencies of a commit. */
export interface CommitParts {
  /** Connection of a server. */
  readonly nodeOf: (host: string) => NodeConnection | undefined
  readonly audit: Audit
  /** Time for the audit, Unix ms on the source's clock. */
  readonly nowMs: () => number
  /**
   * Reason why nothing more may be sent; undefined while sending is allowed: the operator may leave enforce during a
   * commit.
   */
  readonly stop: () => string | undefined
  /** True after a global stop: a rollback then only removes rules and starts none. */
  readonly removesOnly?: (() => boolean) | undefined
  /** Begins the canary watch, before anything is sent to the first server; undefined if nothing is watched. */
  readonly canaryWatch?: ((host: string) => CanaryWatch | undefined) | undefined
  /** @default CANARY_S */
  readonly canaryS?: number | undefined
  /** Cancels the watch, and servers that have not begun. */
  readonly signal?: AbortSignal | undefined
  readonly onServer?: ((progress: ServerProgress) => void) | undefined
  readonly onWatch?: ((watch: WatchProgress | undefined) => void) | undefined
  /** Deadline of one command, and pauses before an unresponsive server is retried, wall ms. */
  readonly answerMs?: number | undefined
  readonly pausesMs?: readonly number[] | undefined
}

const PAUSES_MS = [500, 1_500]

class Commit {
  readonly #parts: CommitParts
  /** Reason why servers not yet written to get nothing. */
  #halted: string | undefined

  constructor(parts: CommitParts) {
    this.#parts = parts
  }

  #report({ host, of }: ServerTask, state: ServerProgress['state'], done = 0, detail = ''): void {
    this.#parts.onServer?.({ host, state, done, of, detail })
  }

  #write(host: string, kind: 'intent' | 'outcome', text: string): boolean {
    try {
      this.#parts.audit.write(this.#parts.nowMs(), host, kind, text)
      return true
    } catch {
      return false
    }
  }

  #stop(): string | undefined {
    return this.#parts.signal?.aborted ? 'it was canceled' : this.#parts.stop()
  }

  /** Sends to one server; the watch runs between the read-back and the end. */
  async server(task: ServerTask, isFirst: boolean): Promise<ServerEnd> {
    const { host } = task
    const end = await this.#serverEnd(task, isFirst)
    if (end.state !== 'done') this.#halted ??= 'an earlier server did not complete'
    this.#report(task, end.state, end.state === 'done' ? task.of : 0, end.detail)
    if (end.state === 'not sent') return end
    if (this.#write(host, 'outcome', `${end.state}: ${end.detail}`)) return end
    return { ...end, detail: `${end.detail}; this could not be recorded` }
  }

  async #serverEnd(task: ServerTask, isFirst: boolean): Promise<ServerEnd> {
    const { host } = task
    const notSent = (detail: string): ServerEnd => ({ host, state: 'not sent', detail })
    const node = this.#parts.nodeOf(host)
    const why = this.#halted ?? this.#stop()
    if (why !== undefined) return notSent(why)
    if (!node) return notSent('the server is gone')
    const sender = task.begin({
      node,
      record: (commands) => this.#write(host, 'intent', commands.join('\n')),
      note: (commands) => void this.#parts.audit.note(this.#parts.nowMs(), host, 'intent', commands.join('\n')),
      stop: () => this.#stop(),
      removesOnly: () => this.#parts.removesOnly?.() ?? false,
      step: (step, done, detail) => this.#report(task, step, done, detail),
      answerMs: this.#parts.answerMs ?? ANSWER_MS,
      pausesMs: this.#parts.pausesMs ?? PAUSES_MS,
    })
    // The first server was read just now; the others waited while it was watched.
    const moved = isFirst ? undefined : await sender.unmoved()
    if (moved) return moved
    const watch = isFirst && (this.#parts.canaryS ?? CANARY_S) > 0 ? this.#parts.canaryWatch?.(host) : undefined
    if (!this.#write(host, 'intent', task.commands.join('\n'))) {
      return notSent('it could not be recorded')
    }
    const wrong = await sender.send()
    if (wrong) return wrong
    if (watch) {
      const broken = await this.#watch(task, watch)
      if (broken !== undefined) return sender.rollBack(broken)
      const gone = await sender.readBack()
      if (gone) return gone
    }
    return sender.settle()
  }

  /** Reason to roll back the first server; undefined if its change may stay. */
  async #watch(task: ServerTask, watch: CanaryWatch): Promise<string | undefined> {
    const { canaryS: ofS = CANARY_S, signal, onWatch } = this.#parts
    const { host } = task
    this.#report(task, 'watching', task.of)
    const { broken, checks } = await watchCanary(watch, ofS, signal, (now, leftS) =>
      onWatch?.({ host, leftS, ofS, says: now }),
    )
    onWatch?.(undefined)
    const text = checks.map((c) => c.text).join('; ')
    if (!this.#write(host, 'outcome', `watched: ${broken ?? 'within its limits'}${text === '' ? '' : ` (${text})`}`)) {
      return broken ?? 'the watch could not be recorded'
    }
    return broken ?? this.#stop()
  }
}

/**
 * Sends each server its part, the first server first.
 *
 * @returns  end state of every server, in order. Parts that cannot be recorded are not sent.
 */
export async function commitTasks(tasks: readonly ServerTask[], parts: CommitParts): Promise<ServerEnd[]> {
  const commit = new Commit(parts)
  const [first, ...rest] = tasks
  if (!first) return []
  for (const { host, of } of tasks) parts.onServer?.({ host, state: 'waiting', done: 0, of, detail: '' })
  const ends = [await commit.server(first, true)]
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < rest.length; at = next++) {
      ends[at + 1] = await commit.server(rest[at] as ServerTask, false)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, rest.length) }, worker))
  return ends
}

/** Sends a change of rules to its servers. */
export const commitChange = (
  service: Service,
  changes: readonly ServerChange[],
  parts: CommitParts,
): Promise<ServerEnd[]> =>
  commitTasks(
    changes.map((c) => ruleTask(service, c)),
    parts,
  )
