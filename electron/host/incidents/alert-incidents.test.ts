import { beforeAll, describe, expect, it } from 'vitest'
import type { Entry } from '#core/alerts/alert-store.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { KINDS } from '#core/alerts/rules.ts'
import { incident, type Incident } from '#core/api/incidents.ts'
import { emulatedConsole, realNotebooks, scenarioOf } from '../../../tests/node/alerted-cluster.ts'
import type { Console } from '../console.ts'
import { AlertIncidents, APART_MS } from './alert-service.ts'

const MIN = 60_000
const entry = (kind: Entry['kind'], where: string, fromMs: number, endMs: number | null = null): Entry => ({
  id: `${kind} ${where}`,
  kind,
  level: 'bad',
  text: `${where} is wrong`,
  where,
  fromMs,
  endMs,
  others: 0,
  returns: 0,
})

describe('incidents of alerts', () => {
  let console: Console
  beforeAll(async () => {
    const made = emulatedConsole(
      scenarioOf({
        title: 'One',
        cluster: 'one',
        clients: { count: 1 },
        oss: [{ name: 'oss01', osts: [{ name: 'one-OST0000', disk: { bandwidth_mb_s: 1000 } }] }],
        control: { controller: 'none', mode: 'observe', max_rate: 200 },
        jobs: [{ id: '1.a.u1', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 20 } }],
      }),
    )
    await made.source.runTo(3 * NS_PER_S, (atNs) => made.console.monitor.tick(atNs))
    console = made.console
  })

  function service() {
    const notebooks = realNotebooks(console)
    let wallMs = 0
    const incidents = new AlertIncidents(notebooks, () => wallMs)
    const noteOf = (id: string | null): string => {
      const note = notebooks.find(id ?? '')?.cells.find((c) => c.kind === 'note')
      return note?.kind === 'note' ? note.text : ''
    }
    const begin = (kind: Entry['kind'], where: string, atMs: number): string | null => {
      wallMs = atMs
      return incidents.begin('one', entry(kind, where, atMs), atMs)
    }
    return { notebooks, incidents, noteOf, begin, setWall: (ms: number) => (wallMs = ms) }
  }

  it('is joined while it is fresh, below whatever an operator wrote meanwhile', () => {
    const { notebooks, incidents, noteOf, begin } = service()
    const id = begin('queue', 'oss01', 10 * MIN)
    const found = notebooks.find(id ?? '') as Incident
    expect(found).toMatchObject({ status: 'exercise', author: 'alert', alert: { kind: 'queue', where: 'oss01' } })
    expect(found.title).toContain('oss01 is wrong')
    expect(noteOf(id)).toContain('00:10:00 oss01 is wrong')
    const note = found.cells.find((c) => c.kind === 'note')
    notebooks.editCell(found.id, note?.id ?? '', 'Rebuild of oss01, Eva knows.')
    expect(begin('starvation', '4711.cfd', 12 * MIN)).toBe(id)
    incidents.end('one', id ?? '', entry('queue', 'oss01', 10 * MIN, 14 * MIN + 51_000))
    expect(noteOf(id)).toBe(
      'Rebuild of oss01, Eva knows.\n00:12:00 4711.cfd is wrong\n00:14:51 Queue growth on oss01 ended after 4 min 51 s',
    )
    expect(notebooks.list()).toHaveLength(1)
    expect(notebooks.find(found.id)?.status).toBe('exercise')
  })

  it.each(KINDS)('is opened by %s, and can be read again', (kind) => {
    const { notebooks, begin } = service()
    const found = notebooks.find(begin(kind, 'oss01', 10 * MIN) ?? '')
    expect(incident.parse(found)).toMatchObject({ alert: { kind, where: 'oss01' } })
  })

  it('is not opened within ten minutes of another, nor written to when an operator is done with it', () => {
    const { notebooks, incidents, noteOf, begin } = service()
    const id = begin('queue', 'oss01', 10 * MIN)
    notebooks.change(id ?? '', { status: 'resolved' })
    const before = noteOf(id)
    expect(begin('starvation', 'a', 15 * MIN)).toBeNull()
    incidents.end('one', id ?? '', entry('queue', 'oss01', 10 * MIN, 16 * MIN))
    expect(noteOf(id)).toBe(before)
    const next = begin('starvation', 'a', 10 * MIN + APART_MS)
    expect(next).not.toBeNull()
    expect(next).not.toBe(id)
    notebooks.remove(next ?? '')
    expect(begin('starvation', 'b', 25 * MIN)).toBeNull()
  })

  it('is not opened again because a source runs faster than the wall clock', () => {
    const { incidents, begin, setWall, notebooks } = service()
    const id = begin('queue', 'oss01', 10 * MIN)
    notebooks.change(id ?? '', { status: 'resolved' })
    setWall(10 * MIN + 20_000)
    expect(incidents.begin('one', entry('queue', 'oss01', 90 * MIN), 90 * MIN)).toBeNull()
  })

  it('is opened thirty times in an hour at most, over all sources', () => {
    const notebooks = realNotebooks(console)
    const incidents = new AlertIncidents(notebooks, () => 0)
    const made = Array.from({ length: 40 }, (_, i) => {
      const own = emulatedName(i)
      notebooks.know({ ...console, monitor: named(console.monitor, own) })
      return incidents.begin(own, entry('queue', 'oss01', 0), 0)
    })
    expect(made.filter((id) => id !== null)).toHaveLength(30)
    expect(made.slice(30)).toEqual(Array.from({ length: 10 }, () => null))
  })
})

const emulatedName = (i: number): string => `cluster${i}`

/** Same monitor under another cluster name. */
function named(monitor: Console['monitor'], cluster: string): Console['monitor'] {
  const source = Object.create(monitor.source, { cluster: { value: cluster } }) as Console['monitor']['source']
  return new Proxy(monitor, {
    get: (of, key) => {
      if (key === 'source') return source
      const value: unknown = Reflect.get(of, key, of)
      return typeof value === 'function' ? (value.bind(of) as unknown) : value
    },
  })
}
