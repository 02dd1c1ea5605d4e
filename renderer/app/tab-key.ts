/**
 * Key of this tab for the console's socket. The server passes it once, in the fragment of the printed address; it is
 * stored for the tab, so that a reload works, and given to tabs of the same origin that request it. Another port is
 * another origin: its pages can neither read the storage nor listen on the channel.
 */
import { keyInFragment } from '#core/api/browser-session.ts'

const NAME = 'sluice.key'
/** Longest wait for another tab, which may be asleep. */
const OTHER_TAB_MS = 400

type Message = { readonly type: 'ask' } | { readonly type: 'key'; readonly key: string }

function isMessage(data: unknown): data is Message {
  if (typeof data !== 'object' || data === null || !('type' in data)) return false
  return data.type === 'ask' || (data.type === 'key' && 'key' in data && typeof data.key === 'string')
}

export class TabKey {
  readonly #channel = new BroadcastChannel(NAME)
  readonly #waiting = new Set<() => void>()
  #key: string | undefined

  /** @param given  the key in the address, if any. */
  constructor(given: string | undefined) {
    this.#key = given ?? sessionStorage.getItem(NAME) ?? undefined
    if (given !== undefined) sessionStorage.setItem(NAME, given)
    this.#channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (!isMessage(data)) return
      if (data.type === 'key') this.#take(data.key)
      else if (this.#key !== undefined) this.#send({ type: 'key', key: this.#key })
    })
  }

  get current(): string | undefined {
    return this.#key
  }

  /** The server accepted the key: sends it to tabs without one. */
  share(): void {
    if (this.#key !== undefined) this.#send({ type: 'key', key: this.#key })
  }

  /** The server rejected the key, for example after a restart. */
  forget(): void {
    this.#key = undefined
    sessionStorage.removeItem(NAME)
  }

  /** Key of this tab, or the one that another tab returns in time. */
  async request(): Promise<string | undefined> {
    if (this.#key !== undefined) return this.#key
    this.#send({ type: 'ask' })
    await Promise.race([this.arrival(), new Promise((resolve) => setTimeout(resolve, OTHER_TAB_MS))])
    return this.#key
  }

  /** Resolves when another tab sends a key. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  /** A working key is not replaced: another tab may still have one from before a restart. */
  #take(key: string): void {
    if (this.#key !== undefined) return
    this.#key = key
    sessionStorage.setItem(NAME, key)
    for (const arrived of this.#waiting) arrived()
    this.#waiting.clear()
  }

  #send(message: Message): void {
    this.#channel.postMessage(message)
  }
}

/** Takes the key out of the address, before the router reads the fragment as a view. */
function takeGivenKey(): string | undefined {
  const key = keyInFragment(location.hash)
  if (key !== undefined) history.replaceState(history.state, '', location.pathname + location.search)
  return key
}

/** Key from the address of this page. */
export const givenKey = takeGivenKey()
