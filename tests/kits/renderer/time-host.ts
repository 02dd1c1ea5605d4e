/** Host for tests of the time cursor: plays back data older than its memory, like the real one, when told to answer. */
import { ORPCError } from '@orpc/client'
import type { StatusFrame } from '#core/api/frames.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'
import { useSourceStore } from '#renderer/stores/source.ts'

export const status = (patch: Partial<Record<keyof StatusFrame, unknown>> = {}): StatusFrame =>
  ({
    source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', sinceMs: 0 },
    sample: 100,
    oldest: 50,
    atMs: 100_000,
    turn: 0,
    mode: 'observe',
    safeMode: 'review',
    notices: [],
    staged: 0,
    clock: { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: 0 },
    ...patch,
  }) as unknown as StatusFrame

/** Frame that the local store plays back near the start of the memory: ten seconds a sample. */
export const playback = (patch: Partial<Record<keyof StatusFrame, unknown>> = {}): StatusFrame =>
  status({
    source: { kind: 'RECORDED', cluster: 'altair', env: 'PROD', sinceMs: 0 },
    sample: 9,
    oldest: 1,
    atMs: 49_000,
    turn: 1,
    clock: { speed: 1, achieved: 1, intervalMs: 5000, sampleAgeMs: null },
    playback: { file: null, tier: '10s', fromMs: 9_000, toMs: 49_000 },
    ...patch,
  })

export const refuse = (code: string, what: string): ORPCError<string, unknown> =>
  new ORPCError('REFUSED', { defined: true, data: { code, what, why: 'nothing is kept of it' } })

export interface TimeHost {
  readonly calls: { verb: string; input: unknown }[]
  /** Answers the oldest pending `goTo`; an error refuses it. */
  answer(with_: { sample: number; atMs: number; recorded: boolean; turn?: number } | Error): Promise<void>
  /** Answer of the next `event`. */
  event: number | null
  refuses: Error | null
}

export function openTimeHost(): TimeHost {
  const waiting: { resolve: (v: unknown) => void; reject: (e: Error) => void }[] = []
  const host: TimeHost = {
    calls: [],
    event: null,
    refuses: null,
    async answer(with_) {
      const next = waiting.shift()
      if (with_ instanceof Error) next?.reject(with_)
      else next?.resolve(with_)
      for (let i = 0; i < 5; i++) await Promise.resolve()
    },
  }
  const note = (verb: string, input: unknown): void => {
    host.calls.push({ verb, input })
    if (host.refuses) throw host.refuses
  }
  const api = {
    host: { ack: async () => undefined },
    history: {
      goTo: (input: unknown) => {
        host.calls.push({ verb: 'goTo', input })
        return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
      },
      event: async (input: unknown) => {
        note('event', input)
        return { atMs: host.event }
      },
      leave: async () => note('leave', undefined),
      note: async (input: unknown) => note('note', input),
    },
    incidents: {
      create: async (input: unknown) => {
        note('create', input)
        return { id: 'INC-0043' }
      },
      addCell: async (input: unknown) => {
        note('addCell', input)
        return { cell: 'c9' }
      },
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
export const apply = (frame: StatusFrame): void => useSourceStore().apply(frame)
