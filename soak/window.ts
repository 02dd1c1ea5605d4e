/**
 * Simulated window of the soak over the WebSocket of the browser shell: opens one view after the other beside status and strip,
 * acknowledges every frame, and occasionally acts as an operator: cursor in the past, search, CSV, bundle.
 */
import type { ContractRouterClient } from '@orpc/contract'
import type { WebSocket } from 'ws'
import type { Contract } from '#core/api/contract.ts'
import { clientOf, openAddress, pageSocket } from '#tests/kits/electron/server/browser-session.ts'

type Client = ContractRouterClient<Contract>
interface Frame {
  readonly seq: number
}
type Open = (client: Client, stream: string) => Promise<AsyncIterator<Frame>>

const HZ = 4
/** Frames of a view before the next one is opened. */
const STAYS = 12
/** Wall time without a new frame after which a view is left, ms: the emulator may pause while a bundle is written. */
const PATIENCE_MS = 5_000

const VIEWS: readonly Open[] = [
  (c, stream) => c.views.overview({ stream, hz: HZ }),
  (c, stream) => c.views.jobs({ stream, hz: HZ, limit: 60 }),
  (c, stream) => c.views.jobs({ stream, hz: HZ, filter: 'rpc>1', groupBy: 'user', sort: 'record', limit: 60 }),
  (c, stream) => c.views.rules({ stream, hz: HZ }),
  (c, stream) => c.views.metadata({ stream, hz: HZ }),
  (c, stream) => c.views.locks({ stream, hz: HZ }),
  (c, stream) => c.views.locks({ stream, hz: HZ, plane: 'ldlm' }),
  (c, stream) => c.views.tokens({ stream, hz: HZ }),
  (c, stream) => c.views.history({ stream, hz: HZ }),
  (c, stream) => c.views.incidents({ stream, hz: HZ }),
  (c, stream) => c.views.connections({ stream, hz: HZ }),
  (c, stream) => c.views.staged({ stream, hz: HZ }),
]

export class SoakWindow {
  frames = 0
  views = 0
  exports = 0
  /** Refusals and errors of the contract. */
  readonly errors: string[] = []
  readonly #client: Client
  readonly #socket: WebSocket
  readonly #running: Promise<void>[] = []
  #streams = 0
  #closed = false

  private constructor(client: Client, socket: WebSocket) {
    this.#client = client
    this.#socket = socket
  }

  /** Opens the printed address as a browser does. */
  static async open(address: string): Promise<SoakWindow> {
    const socket = pageSocket(await openAddress(address))
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    return new SoakWindow(clientOf(socket), socket)
  }

  get api(): Client {
    return this.#client
  }

  /** Cycles through the views until closed. */
  start(): void {
    this.#running.push(
      this.#watch((c, stream) => c.source.status({ stream, hz: HZ }), Infinity),
      this.#watch((c, stream) => c.views.strip({ stream, hz: HZ }), Infinity),
      this.#walk(),
    )
  }

  /** Performs occasional operator actions on a range that ends at `atMs`; errors are recorded. */
  async doings(atMs: number, incident: string | null): Promise<void> {
    const span = { fromMs: atMs - 120_000, toMs: atMs - 1_000 }
    const steps: (() => Promise<unknown>)[] = [
      () => this.#csv(span, 'jobs'),
      () => this.#csv(span, 'rules'),
      () => this.#first((stream) => this.#client.views.jobs({ stream, at: 1 })),
      () => this.#client.history.event({ atMs, direction: 'previous' }),
      () => this.#client.history.note({ atMs, text: 'looked at by the soak' }),
      () => this.#bundle(span, incident),
    ]
    for (const step of steps) {
      if (this.#closed) return
      await step().catch((e: unknown) => this.#fault(e))
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#running)
    const closed = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#socket.close()
    await closed
  }

  async #walk(): Promise<void> {
    for (let n = 0; !this.#closed; n++) await this.#watch(VIEWS[n % VIEWS.length] as Open, STAYS)
  }

  async #watch(open: Open, most: number): Promise<void> {
    const stream = `soak${++this.#streams}`
    this.views++
    try {
      const frames = await open(this.#client, stream)
      let asked = frames.next()
      for (let n = 0; n < most && !this.#closed;) {
        const next = await within(asked, PATIENCE_MS)
        if (next === undefined) {
          if (most === Infinity) continue
          break
        }
        n++
        asked = frames.next()
        // An abandoned request ends with the stream.
        asked.catch(() => undefined)
        if (next.done === true) break
        this.frames++
        await this.#client.host.ack({ stream, seq: next.value.seq })
      }
      await frames.return?.()
    } catch (e) {
      this.#fault(e)
    }
  }

  async #first(open: (stream: string) => Promise<AsyncIterator<Frame>>): Promise<void> {
    const frames = await open(`soak${++this.#streams}`)
    await within(frames.next(), PATIENCE_MS)
    await frames.return?.()
  }

  async #csv(span: { fromMs: number; toMs: number }, what: 'jobs' | 'rules'): Promise<void> {
    let rows = 0
    for await (const part of await this.#client.history.csv({ ...span, what, by: 'job' })) rows = part.rows
    if (rows > 0) this.exports++
  }

  async #bundle(span: { fromMs: number; toMs: number }, incident: string | null): Promise<void> {
    const events = await this.#client.incidents.export({ incident, span })
    for await (const event of events) {
      if (event.kind === 'failed') this.errors.push(`bundle: ${event.notice.what}: ${event.notice.why ?? ''}`)
      if (event.kind !== 'done') continue
      this.exports++
      const verdict = await this.#client.incidents.verify({ name: event.name })
      if (!verdict.ok) this.errors.push(`bundle ${event.name}: not as it was written`)
      await this.#client.incidents.removeBundle({ name: event.name })
    }
  }

  #fault(e: unknown): void {
    if (!this.#closed) this.errors.push(`window: ${e instanceof Error ? e.message : String(e)}`)
  }
}

/** Result of a promise, or undefined after a timeout. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
