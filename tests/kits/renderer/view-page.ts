/** Environment for tests of a view: a page with sizes, a named source, and a stream that can be sent again. */
import { flushPromises } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import type { StatusFrame } from '#core/api/frames.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'
import { useSourceStore } from '#renderer/stores/source.ts'

/**
 * Creates a new page and store for each test. Lists are virtual: without a height they would show nothing.
 *
 * @param unmount  unmounts the view after a test.
 */
export function freshPage(width: number, unmount: () => void): void {
  beforeEach(() => {
    vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(300)
    vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(300)
    vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(width)
    vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
    setActivePinia(createPinia())
  })
  afterEach(() => {
    unmount()
    document.body.replaceChildren()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })
}

/** Sets the name of the active source. */
export function showSource(nowMs: number, kind: string): void {
  useSourceStore().apply({
    source: { cluster: 'demo', env: 'DEMO', kind },
    atMs: nowMs,
    sample: 40,
    oldest: 1,
    staged: 0,
    mode: 'enforce',
    clock: { intervalMs: 1000 },
  } as unknown as StatusFrame)
}

/** Sends another frame on the same stream. */
export async function resendFrame<F>(host: { frame: F; readonly acks: number }, frame: F): Promise<void> {
  host.frame = frame
  const line = useConnectionStore()
  const api = line.host
  if (!api) throw new Error('no host')
  line.lost(null)
  await flushPromises()
  line.opened(api)
  const before = host.acks
  await vi.waitFor(() => expect(host.acks).toBeGreaterThan(before))
  await flushPromises()
}
