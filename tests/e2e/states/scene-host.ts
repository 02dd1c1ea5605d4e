/** Host that plays one scene: fixed frames and answers of a state, so that clock, data and order are constant. */
import { implement, ORPCError, type AnyRouter } from '@orpc/server'
import { contract } from '#core/api/contract.ts'

/** Frame of a stream, or answer of a verb, by verb path, for example `views.jobs`; a function gets the input. */
export type Scene = Readonly<Record<string, unknown>>

/** Verbs that stream frames until the window cancels. */
const isStream = (path: string): boolean =>
  path === 'source.status' || (path.startsWith('views.') && path !== 'views.stand') || path === 'incidents.export'

export class SceneHost {
  #scene: Scene = {}
  readonly #waiting = new Set<() => void>()
  readonly calls: { path: string; input: unknown }[] = []
  readonly router: AnyRouter

  constructor() {
    this.router = this.#build(contract, implement(contract).$context<{ peer: string }>(), '') as AnyRouter
  }

  /** Switches to another scene; active streams send it at once. */
  play(scene: Scene): void {
    this.#scene = scene
    for (const wake of this.#waiting) wake()
  }

  #build(part: unknown, os: unknown, path: string): unknown {
    const verbs = part as Record<string, unknown>
    if ('~orpc' in verbs) return this.#verb(os, path)
    const makers = os as Record<string, unknown>
    return Object.fromEntries(
      Object.keys(verbs).map((key) => [
        key,
        this.#build(verbs[key], makers[key], path === '' ? key : `${path}.${key}`),
      ]),
    )
  }

  #verb(os: unknown, path: string): unknown {
    type Call = { input: unknown; signal?: AbortSignal }
    const maker = os as { handler: (act: (call: Call) => unknown) => unknown }
    const frames = (signal?: AbortSignal): AsyncGenerator<unknown> => this.#frames(path, signal)
    if (isStream(path)) {
      return maker.handler(async function* ({ signal }) {
        yield* frames(signal)
      })
    }
    return maker.handler(({ input }) => {
      this.calls.push({ path, input })
      const answer = this.#scene[path]
      if (path === 'host.ack' || path === 'views.stand') return path === 'views.stand'
      if (path === 'host.info') return { name: 'sluice', version: '0.0.0', runtime: 'test', shell: 'browser' }
      if (answer === undefined) throw new ORPCError('NOT_FOUND', { message: `${path} is not in this scene` })
      return typeof answer === 'function' ? (answer as (input: unknown) => unknown)(input) : answer
    })
  }

  async *#frames(path: string, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
    let seen: unknown
    for (let seq = 1; !signal?.aborted;) {
      const frame = this.#scene[path]
      if (frame !== undefined && frame !== seen) {
        seen = frame
        yield Array.isArray(frame) ? frame[0] : { ...(frame as object), seq: seq++ }
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake)
          resolve()
        }
        this.#waiting.add(wake)
        signal?.addEventListener('abort', wake, { once: true })
      })
    }
  }
}
