import { createPinia, setActivePinia } from 'pinia'
import { expect, it, vi } from 'vitest'
import { prod } from '#tests/kits/renderer/views/connections-host.ts'
import type { Client } from './client.ts'
import { useClusterDraftStore } from './cluster-draft.ts'
import { useConnectionStore } from './connection.ts'

it('cancels running checks and drops queued ones', async () => {
  setActivePinia(createPinia())
  let begun = 0
  const signals: AbortSignal[] = []
  const check = (_: unknown, { signal }: { signal: AbortSignal }) => {
    begun++
    signals.push(signal)
    return Promise.resolve(
      (async function* () {
        yield { kind: 'steps', host: '', steps: [] }
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      })(),
    )
  }
  useConnectionStore().opened({ api: { clusters: { check } } as unknown as Client })
  const draft = useClusterDraftStore()
  const { input } = prod()
  if (input === null) throw new Error('no input')
  draft.begin('altair', input)
  const tested = draft.test()
  await vi.waitFor(() => expect(begun).toBeGreaterThan(0))
  const first = begun
  expect(draft.list.length).toBeGreaterThan(first)
  draft.cancelAll()
  await tested
  expect(begun).toBe(first)
  expect(signals.every((signal) => signal.aborted)).toBe(true)
  expect(draft.list.map((c) => c.state)).toEqual([
    ...Array.from({ length: first }, () => 'ended'),
    ...Array.from({ length: draft.list.length - first }, () => 'next'),
  ])
  expect(draft.wasCancelled).toBe(true)
  const again = draft.again(draft.list[0]?.host ?? '')
  expect(draft.wasCancelled).toBe(false)
  draft.cancelAll()
  await again
})
