import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, ref } from 'vue'
import { revealing, useRevealed } from './use-revealed.ts'

beforeEach(() => {
  revealing.atOnce = false
  vi.useFakeTimers()
})
afterEach(() => {
  revealing.atOnce = true
  vi.useRealTimers()
})

describe('parts of a view', () => {
  it('appear one per frame, and start again for another input', async () => {
    const scope = effectScope()
    const what = ref('a')
    const count = ref(3)
    const shown = scope.run(() =>
      useRevealed(
        () => what.value,
        () => count.value,
      ),
    )
    const seen: unknown[] = []
    for (let i = 0; i < 5; i++) {
      seen.push(shown?.value)
      vi.advanceTimersToNextFrame()
      vi.advanceTimersToNextFrame()
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(seen).toEqual([0, 1, 2, 3, 3])
    what.value = 'b'
    await vi.advanceTimersByTimeAsync(0)
    expect(shown?.value).toBe(0)
    await vi.advanceTimersByTimeAsync(1000)
    expect(shown?.value).toBe(3)
    scope.stop()
  })

  it('appear on a hidden page, too', async () => {
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
    vi.stubGlobal('requestAnimationFrame', () => 0)
    const scope = effectScope()
    const shown = scope.run(() =>
      useRevealed(
        () => 'a',
        () => 2,
      ),
    )
    await vi.advanceTimersByTimeAsync(100)
    expect(shown?.value).toBe(2)
    scope.stop()
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })
})
