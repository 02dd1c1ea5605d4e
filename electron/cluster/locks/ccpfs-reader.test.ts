// Reading of ccPFS servers from their documents: lost events, several clocks, faults.
import { expect, it } from 'vitest'
import { ok } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { CcpfsReader } from './ccpfs-reader.ts'

const RANGE = { start: 0, end: null, pieces: null }
const state = (lockId: number, client: number) => ({
  lockId,
  client,
  mode: 'NBW',
  state: 'GRANTED',
  sn: lockId,
  minSn: lockId,
  start: 0,
  end: null,
})
const granted = (number: number, at: number, lockId: number, client: number, resource = 1) => [
  { number, event: { kind: 'asked', resource, at, client, reqId: lockId, mode: 'NBW', range: RANGE } },
  {
    number: number + 1,
    event: {
      kind: 'granted',
      resource,
      at,
      client,
      lockId,
      reqId: lockId,
      asked: 'NBW',
      mode: 'NBW',
      range: RANGE,
      required: RANGE,
      state: 'GRANTED',
      sn: lockId,
      minSn: lockId,
      absorbed: [],
      waitedNs: 0,
      rule: 'free',
    },
  },
]

interface Answer {
  readonly nowNs: number
  readonly events?: readonly { readonly number: number; readonly event: unknown }[]
  readonly locks?: readonly object[]
  readonly last: number
  readonly more?: object
}

const documentOf = ({ nowNs, events = [], locks = [], last, more = {} }: Answer) => ({
  kind: 'ccpfs',
  version: 1,
  servers: [
    {
      status: {
        pid: 77,
        address: '/run/s',
        startedMs: 5,
        nowNs,
        policy: 'SeqDLM',
        evictMs: 100_000,
        fileSystem: 9,
        server: 0,
        clients: [{ client: 1, name: 'n1:1' }],
        resources: locks.length > 0 ? [{ resource: 1, unreleased: locks.length, waiting: 0, locks, requests: [] }] : [],
        locks: { resources: locks.length > 0 ? 1 : 0 },
        lastEvent: last,
        ...more,
      },
      last,
      events,
    },
  ],
  silent: [],
  files: [],
})

/** Reader of nodes that answer in turn with these documents, one list a node; the clock stands at each reading. */
function readerOf(...answers: (readonly (object | string)[])[]) {
  let nowNs = 0
  const sent: string[] = []
  const nodes = answers.map((list, i): NodeConnection => {
    let next = 0
    const exec: NodeConnection['exec'] = (command) => {
      sent.push(command)
      const answer = list[next++] ?? ''
      const stdout = typeof answer === 'string' ? answer : JSON.stringify(answer)
      return Promise.resolve(ok({ stdout, stderr: '', code: 0 }))
    }
    return { host: `n${i + 1}`, roles: ['ccpfs'], exec }
  })
  const reader = new CcpfsReader(nodes, { nowNs: () => nowNs, toUnixMs: (ns) => ns / 1e6 })
  const read = (atNs: number): Promise<void> => {
    nowNs = atNs
    return reader.refresh(atNs)
  }
  return { reader, read, sent }
}

const heldIn = (reader: CcpfsReader): number =>
  reader.trace.modes(reader.seenNs, NS_PER_S).reduce((n, m) => n + m.held, 0)

it('continues after the last event of each server', async () => {
  const first = documentOf({ nowNs: 7e9, events: granted(1, 6.9e9, 1, 1), locks: [state(1, 1)], last: 2 })
  const { reader, read, sent } = readerOf([first, documentOf({ nowNs: 8e9, locks: [state(1, 1)], last: 2 })])
  await read(2e9)
  expect([reader.seenNs, heldIn(reader)]).toEqual([2e9, 1])
  // The server's clock is 5 s ahead of the source's.
  expect(reader.trace.lives(1, 0, 2e9, 10).lives).toMatchObject([{ askedNs: 1.9e9, grantedNs: 1.9e9, sn: 1 }])
  await read(3e9)
  expect(sent).toEqual(['sluice ccpfs observe', 'sluice ccpfs observe --after 77:2 --names 1'])
  expect(reader.seenNs).toBe(3e9)
})

it('corrects locks after lost events, and reports the gap', async () => {
  const { reader, read } = readerOf([
    documentOf({ nowNs: 1e9, events: granted(1, 0.9e9, 1, 1), locks: [state(1, 1)], last: 2 }),
    // Events 3 to 49 were lost: lock 1 was released, lock 5 was granted.
    documentOf({ nowNs: 2e9, events: granted(50, 1.9e9, 9, 2), locks: [state(5, 1), state(9, 2)], last: 51 }),
  ])
  await read(1e9)
  await read(2e9)
  const open = reader.trace.lives(1, 0, 2e9, 10).lives.filter((l) => l.endedNs === undefined)
  expect(open.map((l) => l.lockId).sort()).toEqual([5, 9])
  expect(heldIn(reader)).toBe(2)
  expect(reader.notices(2e9)).toMatchObject([{ code: 'CCPFS_EVENTS_LOST', what: '47 lock events of n1 were not read' }])
  expect([reader.isComplete(1.2e9, 1.5e9), reader.isComplete(2e9, 3e9)]).toEqual([false, true])
})

it('skips an event that is not valid, and reports it as lost', async () => {
  const junk = { number: 3, event: { kind: 'granted', resource: 'x' } }
  const { reader, read } = readerOf([
    documentOf({ nowNs: 1e9, events: [...granted(1, 0.9e9, 1, 1), junk], locks: [state(1, 1)], last: 3 }),
  ])
  await read(1e9)
  expect(heldIn(reader)).toBe(1)
  expect(reader.notices(1e9)).toMatchObject([{ code: 'CCPFS_EVENTS_LOST' }])
})

it('shows a silent node, and ends the trace where the servers that answer are known', async () => {
  const one = documentOf({ nowNs: 1e9, last: 0 })
  const { reader, read } = readerOf([one, 'not JSON', one], [one, documentOf({ nowNs: 2e9, last: 0 })])
  await read(1e9)
  await read(2e9)
  expect(reader.failures).toMatchObject([{ code: 'CCPFS_SILENT', why: 'the answer is not JSON' }])
  expect([reader.isSilent, reader.seenNs]).toEqual([false, 2e9])
})

it('refuses servers of another file system', async () => {
  const { reader, read } = readerOf(
    [documentOf({ nowNs: 1e9, last: 0 })],
    [documentOf({ nowNs: 1e9, last: 0, more: { fileSystem: 10 } })],
  )
  await read(1e9)
  expect(reader.failures.map((f) => f.code)).toEqual(['CCPFS_OTHER_FILE_SYSTEM'])
})
