import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect, retryPause } from './connect.ts'

it('waits longer after every failure, up to ten seconds, never less than half of that', () => {
  const least = [0, 1, 2, 3, 10].map((n) => retryPause(n, () => 0))
  const most = [0, 1, 2, 3, 10].map((n) => retryPause(n, () => 1))
  expect(most).toEqual([500, 1000, 2000, 4000, 10_000])
  expect(least).toEqual(most.map((ms) => ms / 2))
})

describe('the port of the desktop', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    vi.stubGlobal('location', { protocol: 'app:', origin: 'app://sluice' })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  it('is requested again while the host restarts, and the previous one is closed', () => {
    const posted = vi.spyOn(window, 'postMessage').mockImplementation(() => undefined)
    const line = { opened: vi.fn(), lost: vi.fn(), refused: vi.fn(), retryNow: (): void => undefined }
    connect(line)
    expect(posted.mock.calls).toEqual([[{ type: 'sluice:connect' }, 'app://sluice']])
    const port = () => Object.assign(new EventTarget(), { start: vi.fn(), close: vi.fn(), postMessage: vi.fn() })
    const give = (given: object, source: unknown = window) =>
      window.dispatchEvent(
        Object.assign(new Event('message'), { data: { type: 'sluice:port' }, ports: [given], source }),
      )
    const first = port()
    give(port(), {})
    expect(line.opened).not.toHaveBeenCalled()
    give(first)
    expect(line.opened).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(60_000)
    expect(posted).toHaveBeenCalledOnce()

    const receive = (data: object) =>
      window.dispatchEvent(Object.assign(new Event('message'), { data, ports: [], source: window }))
    receive({ type: 'sluice:lost' })
    expect(line.lost).toHaveBeenCalledOnce()
    const pause = line.lost.mock.calls[0]?.[0] as number
    vi.advanceTimersByTime(pause)
    expect(posted).toHaveBeenCalledTimes(2)
    // No response: the host is not back yet.
    vi.advanceTimersByTime(20_000)
    expect(posted.mock.calls.length).toBeGreaterThan(2)
    const second = port()
    give(second)
    expect(line.opened).toHaveBeenCalledTimes(2)
    const third = port()
    give(third)
    expect(second.close).toHaveBeenCalledOnce()
    const before = line.lost.mock.calls.length
    second.dispatchEvent(new Event('close'))
    expect(line.lost).toHaveBeenCalledTimes(before)
  })
})
