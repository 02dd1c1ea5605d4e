import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { locksFrame as schema, type LocksFrame } from '#core/api/locks.ts'
import { EPOCH_S, lockedHost } from '../../../../tests/node/locked-host.ts'

type Locked = Awaited<ReturnType<typeof lockedHost>>
type Resource = NonNullable<LocksFrame['resource']>

const resourceOf = ({ resource }: LocksFrame): Resource => {
  if (!resource) throw new Error('no resource is shown')
  return resource
}
const lengths = (columns: object): number[] => [...new Set(Object.values(columns).map((v: unknown[]) => v.length))]
/** All instants that a resource contains, Unix ms. */
function instants({ moment, lives, messages, queue }: Resource): number[] {
  const beginMs = moment.endMs - moment.spanMs
  const steps = [lives.asked, lives.granted, lives.canceling, lives.released, lives.dataAt, lives.downgradedAt]
  const all = [...steps, messages.sent, messages.arrived].flat().flatMap((t) => (t === null ? [] : [beginMs + t]))
  return [...all, moment.endMs, ...queue.t]
}

describe('the locks view', () => {
  let c: Locked
  beforeAll(async () => {
    c = await lockedHost()
    await c.run(12.5)
  })
  afterAll(() => c.host.close())

  it('shows locks held and their rates, modes, resources by contention and the lanes of one', async () => {
    const f = await c.frame()
    expect(schema.parse(f)).toEqual(f)
    expect(f).toMatchObject({
      planes: ['seqdlm', 'ldlm'],
      plane: 'seqdlm',
      known: 4,
      shown: 4,
      ldlm: null,
      notices: [],
    })
    expect(f.manager).toContain('SeqDLM')
    expect(f.grants).toBeGreaterThan(10)
    expect(f.cancels).toBeGreaterThan(10)
    expect(f.modes.map((m) => m.mode)).toEqual(['PR', 'NBW', 'BW', 'PW'])
    expect(f.modes.reduce((n, m) => n + (m.held ?? 0), 0)).toBe(f.held)
    expect([...f.rows.name].sort()).toEqual(['ckpt.h5 / 0', 'ckpt.h5 / 1', 'ckpt.h5 / 2', 'ckpt.h5 / 3'])
    expect([...f.rows.waiting].sort((a, b) => b - a)).toEqual(f.rows.waiting)
    expect(lengths(f.rows)).toEqual([4])
    expect(lengths(f.series)).toEqual([f.series.t.length])
    expect(Math.max(...f.series.grants.map((v) => v ?? 0))).toBeGreaterThan(100)
    expect(new Set(f.alarms.map((a) => a.kind))).toEqual(new Set(['convoy', 'ping-pong', 'eviction']))
    const r = resourceOf(f)
    expect(r).toMatchObject({ isFound: true, isKept: true })
    expect([20, 60, 200, 1000]).toContain(r.moment.spanMs)
    expect(r.queue.t).toHaveLength(250)
    expect(r.lives.id.length).toBeGreaterThan(5)
    expect(r.messages.sent.length).toBeGreaterThan(5)
    expect(lengths(r.lives)).toEqual([r.lives.id.length])
    expect(lengths(r.messages)).toEqual([r.messages.sent.length])
    expect(r.clients.map((x) => x.number)).toEqual(r.clients.map((_, i) => i))
    for (const client of [...r.lives.client, ...r.messages.client]) expect(r.clients[client]?.jobId).toBe('ckpt')
    expect(r.early?.all).toBeGreaterThan(0)
  })

  it('shows nothing of the future: a sample looks later as it looked when it was the newest', async () => {
    const other = await lockedHost()
    await other.run(7.3)
    const then = await other.frame()
    await other.run(12)
    const later = await other.frame({ at: then.sample })
    await other.host.close()
    // The kept convoys are those of the whole day, to move to.
    expect({ ...later, convoys: then.convoys }).toEqual(then)
    for (const ms of instants(resourceOf(then))) expect(ms).toBeLessThanOrEqual(then.atMs ?? NaN)
    for (const at of [1, 2, 9, 20, 47, 51, 90]) {
      const f = await c.frame({ at })
      expect(schema.parse(f)).toEqual(f)
      for (const ms of instants(resourceOf(f))) expect(ms).toBeLessThanOrEqual(f.atMs ?? NaN)
    }
  })

  it('stays on a moment while nothing worse comes, and changes the resource every 5 s at most', async () => {
    let last: { frame: LocksFrame; resource: Resource } | undefined
    let changes = 0
    for (let at = 55; at <= 115; at++) {
      const frame = await c.frame({ at })
      const resource = resourceOf(frame)
      const isSame = last?.resource.key === resource.key && last.resource.moment.endMs === resource.moment.endMs
      if (last && !isSame) {
        changes++
        const hasSecondPassed = (ms: number | null): number => Math.floor(((ms ?? 0) - EPOCH_S * 1000 - 24) / 5000)
        const isBorder = hasSecondPassed(frame.atMs) > hasSecondPassed(last.frame.atMs)
        const before = peakOf(last.resource)
        const after = peakOf(resource)
        if (!isBorder && last.resource.key === resource.key) expect(after).toBeGreaterThan(before)
      }
      last = { frame, resource }
    }
    expect(changes).toBeLessThan(15)
  })

  it('finds the longest queue of the last seconds, the one that the condition names', async () => {
    for (const stripe of [0, 1, 2, 3]) {
      const name = `ckpt.h5 / ${stripe}`
      const f = await c.frame({ selected: name })
      const r = resourceOf(f)
      expect(r.name).toBe(name)
      // The last 0.7 s are not complete yet.
      const inSight = r.queue.waiting.filter((_, i) => (r.queue.t[i] ?? NaN) <= EPOCH_S * 1000 + 11_750)
      const longest = Math.max(...inSight.map((v) => v ?? 0))
      expect(longest).toBeGreaterThan(3)
      expect(peakOf(r)).toBe(longest)
      const convoy = f.alarms.find((a) => a.kind === 'convoy' && a.resource === r.key)
      const behind = Number(/, (\d+) behind 1 (PR|NBW|BW|PW) lock$/.exec(convoy?.text ?? '')?.[1])
      expect(behind).toBeGreaterThan(3)
      expect(behind).toBeLessThanOrEqual(Math.max(...r.queue.waiting.map((v) => v ?? 0)))
      expect(f.rows.level[f.rows.key.indexOf(r.key)]).toBe('watch')
    }
  })

  it('shows the moment that was asked for, by key or by name, and none of after the cursor', async () => {
    const end = EPOCH_S * 1000 + 8_000
    const moment = { endMs: end, spanMs: 20 }
    const { key } = resourceOf(await c.frame({ selected: 'ckpt.h5 / 1' }))
    const r = resourceOf(await c.frame({ selected: key, moment }))
    expect(r).toMatchObject({ key, isFound: false, isKept: true, moment })
    for (const t of r.messages.sent) expect(t).toBeLessThanOrEqual(20)
    const before = resourceOf(await c.frame({ at: 49, moment }))
    expect(before.moment).toEqual({ endMs: EPOCH_S * 1000 + 5_000, spanMs: 20 })
    const start = resourceOf(await c.frame({ moment: { endMs: 0, spanMs: 10_000 } }))
    expect(start.lives.id).toEqual([])
  })

  it('falls back to the most contended resource for a name that is none', async () => {
    const { key } = resourceOf(await c.frame())
    for (const selected of ['constructor', '999999999', '-1', '1e3', '9'.repeat(300)]) {
      expect(resourceOf(await c.frame({ selected })).key).toBe(key)
    }
  })

  it('sorts and cuts the table, and keeps all rows for a filter that cannot be read', async () => {
    const names = (await c.frame({ sort: 'name' })).rows.name
    expect([...names].sort()).toEqual(names)
    for (const sort of ['conflicts', 'revocations'] as const) {
      const column = (await c.frame({ sort })).rows[sort]
      expect([...column].sort((a, b) => b - a)).toEqual(column)
    }
    const page = await c.frame({ sort: 'name', offset: 1, limit: 2 })
    expect(page.rows.name).toEqual(names.slice(1, 3))
    expect(page).toMatchObject({ known: 4, shown: 4, offset: 1 })
    const filtered = await c.frame({ filter: 'res:*3 mode:NBW' })
    expect(filtered).toMatchObject({ known: 4, shown: 1, rows: { name: ['ckpt.h5 / 3'] } })
    const fault = await c.frame({ filter: 'res:ckpt mode:XW' })
    expect(fault).toMatchObject({
      shown: 4,
      filterError: { column: 10, message: 'mode: must be one of PR, NBW, BW, PW' },
    })
  })

  it.each<[string, Parameters<Locked['frame']>[0]]>([
    ['an unknown plane', { plane: 'dlm' as 'ldlm' }],
    ['an unknown column', { sort: 'constructor' as 'name' }],
    ['a filter of a page', { filter: 'x'.repeat(501) }],
    ['a long selection', { selected: 'x'.repeat(301) }],
    ['201 rows', { limit: 201 }],
    ['a moment without length', { moment: { endMs: 0, spanMs: 0 } }],
    ['a moment of an hour', { moment: { endMs: 0, spanMs: 3_600_000 } }],
    ['a moment that never ends', { moment: { endMs: Infinity, spanMs: 60 } }],
    ['a span that is no number', { spanMs: NaN }],
  ])('refuses %s', async (_, query) => {
    await expect(c.frame(query)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})

/** Longest queue of the shown range, from its lock lives. */
function peakOf({ lives, moment }: Resource): number {
  const ends = lives.granted.map((g, i) => g ?? lives.released[i] ?? Infinity)
  const at = (t: number): number =>
    lives.asked.filter((requests, i) => requests <= t && (ends[i] ?? Infinity) > t).length
  return Math.max(0, ...lives.asked.filter((t) => t >= 0 && t <= moment.spanMs).map(at), at(0))
}

describe('what was and what never was', () => {
  const open: Locked[] = []
  afterEach(async () => {
    for (const c of open.splice(0)) await c.host.close()
  })
  async function start(ccpfs: object | null): Promise<Locked> {
    const c = await lockedHost(ccpfs)
    open.push(c)
    return c
  }

  it('a client that does not answer is a risk from half of its time on, and then evicted', async () => {
    const c = await start({
      revocation_timeout_s: 4,
      faults: [{ what: 'client-silent', client: 3, at_s: 2.5 }],
    })
    await c.run(5.9)
    const quiet = await c.frame()
    expect(quiet.alarms.at(-1)).toMatchObject({ kind: 'eviction', level: 'idle', resource: '', note: 'of 4.0 s' })
    expect(quiet.alarms.at(-1)?.text).toMatch(/^Eviction risk: none, oldest callback 4\d %$/)
    await c.run(7)
    const risky = (await c.frame()).alarms.at(-1)
    expect(risky).toMatchObject({ kind: 'eviction', level: 'bad', note: 'of 4.0 s' })
    expect(risky?.text).toMatch(/^Eviction risk on ckpt\.h5 \/ \d, cn03 silent for 7\d %$/)
    await c.run(12)
    expect((await c.frame()).alarms.at(-1)).toMatchObject({ level: 'idle' })
    expect((await c.frame({ at: 69 })).alarms.at(-1)).toEqual(risky)
    const marks = c.host.monitor.events.between(0, Infinity, 100).filter((m) => m.text.startsWith('Eviction'))
    expect(marks).toHaveLength(1)
    expect(marks[0]).toMatchObject({ kind: 'alarm', level: 'bad', subject: 'Locks' })
  })

  it('a file name is text, whatever is in it, and bounded', async () => {
    const name = `<img src=x onerror=alert(1)> "$(reboot)" \n${'x'.repeat(200)}`
    const writers = { job: '<b>', file: name, clients: [1, 2, 3, 4], pattern: 'strided', size_bytes: 47_008 }
    const c = await start({ files: [{ name, stripes: 2 }], workloads: [writers] })
    await c.run(3)
    const f = await c.frame({ filter: 'res:<img*' })
    expect(schema.parse(f)).toEqual(f)
    expect(f.shown).toBe(2)
    expect(f.rows.name[0]?.startsWith('<img src=x onerror=alert(1)> "$(reboot)" \n')).toBe(true)
    expect(f.rows.name[0]).toHaveLength(120)
    expect(resourceOf(f).clients[0]?.jobId).toBe('<b>')
  })

  it('the overview counts the requests that wait, and says where the storm is', async () => {
    const c = await start({})
    await c.run(4.2)
    const of = async (at: number | null): Promise<unknown> => {
      for await (const f of await c.client.views.overview({ stream: 'o', at }))
        return f.tiles.find((t) => t.id === 'locks')
    }
    expect(await of(null)).toMatchObject({ level: 'watch', note: expect.stringMatching(/^ckpt\.h5 \/ \d$/) as string })
    const none = await start(null)
    await none.run(1)
    for await (const f of await none.client.views.overview({ stream: 'o' })) {
      expect(f.tiles.map((t) => t.id)).not.toContain('locks')
      break
    }
  })

  it('a source without a lock manager that tells its steps has no such plane', async () => {
    const c = await start(null)
    expect((await c.frame()).planes).toEqual(['ldlm'])
  })
})
