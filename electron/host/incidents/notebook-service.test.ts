import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { IncidentsFrame } from '#core/api/incidents.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost, type Host } from '../host.ts'

const EPOCH_S = 1_767_225_600
const EPOCH_MS = EPOCH_S * 1_000

const data = tempFolder()
let host: Host
const clientOf = () => createRouterClient(host.router, { context: { peer: 'test' } })
let client: ReturnType<typeof clientOf>

async function first<F>(stream: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const frame of await stream) return frame
  throw new Error('no frame')
}
let frames = 0
const frame = (selected: string | null = null): Promise<IncidentsFrame> =>
  first(client.views.incidents({ stream: `i${++frames}`, selected }))
const runTo = (second: number): Promise<void> => host.source.runTo(second * NS_PER_S, (atNs) => host.monitor.tick(atNs))
const found = (id: string): Incident => {
  const incident = host.incidents.notebooks.find(id)
  if (!incident) throw new Error(`no ${id}`)
  return incident
}
const kinds = (id: string): string[] => found(id).cells.map((c) => c.kind)
const manual = (over: Partial<Parameters<typeof client.incidents.create>[0]> = {}) =>
  client.incidents.create({ atMs: null, span: null, ...over })
const refusal = (code: string) => ({ code: 'REFUSED', data: { code } })
const marks = (): string[] =>
  host.monitor.events.between(-Infinity, Infinity, 100).flatMap((m) => (m.subject === 'Incident' ? [m.text] : []))

/** Two OSTs, and two jobs that demand more than these can serve. */
const SCENARIO = {
  title: 'Two OSTs',
  cluster: 'demo',
  clients: { count: 4 },
  oss: ['oss01', 'oss02'].map((name, i) => ({
    name,
    osts: [{ name: `demo-OST000${i}`, disk: { bandwidth_mb_s: 400 } }],
  })),
  control: { max_rate: 100, mode: 'enforce', controller: 'adaptbf' },
  jobs: ['4655.vasp.u340', '4690.python.u1021'].map((id, i) => ({
    id,
    clients: [i + 1],
    processes: 2,
    outstanding: 64,
    op: 'write',
    size_kib: 1024,
    pattern: { kind: 'poisson', rate: 60 * (i + 1) },
  })),
}

beforeAll(async () => {
  const scenarioFile = join(data, 'two.yaml')
  writeFileSync(scenarioFile, JSON.stringify(SCENARIO))
  const opened = await openHost({
    scenarioFile,
    seed: 1,
    shell: 'terminal',
    historyFile: join(data, 'history.sqlite'),
    paced: false,
    epochSeconds: EPOCH_S,
  })
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  host = opened.value
  client = clientOf()
  await runTo(10)
})
afterAll(() => host.close())

describe('opened by hand', () => {
  it('has what stood, says where it is from, and stands in the event lane', async () => {
    const { id } = await manual({ note: 'everyone waits' })
    expect(id).toBe('INC-0001')
    const incident = found(id)
    expect(kinds(id)).toEqual(['note', 'chart', 'table', 'diff', 'transcript'])
    expect(incident).toMatchObject({
      status: 'exercise',
      alert: null,
      resolvedMs: null,
      createdMs: EPOCH_MS + 10_000,
      source: { kind: 'EMULATED', cluster: 'demo', env: 'DEMO', scenario: 'Two OSTs', seed: 1 },
      // The range extends five minutes ahead; frozen data ends at the last known sample.
      toMs: EPOCH_MS + 310_000,
    })
    expect(incident.title).not.toBe('')
    for (const cell of incident.cells) {
      if (cell.kind === 'note') continue
      expect(cell.of).toMatchObject({ kind: 'EMULATED', cluster: 'demo', frozenMs: EPOCH_MS + 10_000 })
      expect(cell.of.toMs).toBeLessThanOrEqual(EPOCH_MS + 10_001)
    }
    const transcript = incident.cells.find((c) => c.kind === 'transcript')
    const records = host.monitor.history.audit(transcript?.audit?.from ?? 0, 1)
    expect(records[0]?.text).toBe(transcript?.lines[0]?.text)
    expect(marks()).toEqual([`${id} opened: ${incident.title}`])
    const kept = host.monitor.history
      .reader()
      .events(0, Infinity, 1_000)
      .filter((m) => m.subject === 'Incident')
    expect(kept).toMatchObject([{ kind: 'note', atMs: EPOCH_MS + 10_000 }])
  })

  it('is listed, and its hash is that of its document', async () => {
    const { incidents, selected, integrity } = await frame('INC-0001')
    expect(incidents).toMatchObject([{ id: 'INC-0001', cluster: 'demo', cells: 5, fault: '', alert: null }])
    expect(selected).toEqual(found('INC-0001'))
    const text = readFileSync(join(data, 'incidents', 'INC-0001.json'))
    expect(integrity).toBe(createHash('sha256').update(text).digest('hex'))
    expect((await frame('INC-0999')).selected).toBeNull()
  })

  it('is not sent again with every sample', async () => {
    let sent = 0
    const stop = new AbortController()
    const stream = await client.views.incidents({ stream: 'still', selected: null }, { signal: stop.signal })
    const reading = (async () => {
      for await (const f of stream) sent = f.seq
    })().catch(() => undefined)
    await expect.poll(() => sent).toBe(1)
    await runTo(11)
    await client.incidents.change({ id: 'INC-0001', title: 'Hog on four OSTs' })
    await expect.poll(() => sent).toBe(2)
    stop.abort()
    await reading
  })

  it('has the readings of its moment, kept beside it', async () => {
    const { notebooks } = host.incidents
    await notebooks.settled()
    expect(readdirSync(join(data, 'incidents'))).toContain('INC-0001.readings.json')
    const readings = notebooks.readings('INC-0001')
    expect(new Set(readings.map((r) => r.server))).toEqual(new Set(host.monitor.allServers))
    for (const what of ['obdfilter.demo-OST0000.job_stats', 'ost.OSS.ost_io.nrs_tbf_rule', 'ost.OSS.ost_io.stats']) {
      const reading = readings.find((r) => r.what === what)
      expect(reading?.text.length).toBeGreaterThan(10)
      // Read at the latest sample or before it, not at the next one.
      expect(reading?.atMs).toBeLessThanOrEqual(EPOCH_MS + 10_000)
    }
    expect(notebooks.readings(null).find((r) => r.what.endsWith('job_stats'))?.atMs).toBe(EPOCH_MS + 11_000)
    expect(notebooks.readings('INC-0777')).toEqual([])
  })

  it('at an instant of the past takes the rules and the jobs of then', async () => {
    const { id } = await manual({ atMs: EPOCH_MS + 5_000, span: { fromMs: EPOCH_MS + 3_000, toMs: EPOCH_MS + 6_000 } })
    const chart = found(id).cells.find((c) => c.kind === 'chart')
    expect(chart?.t.every((t) => t >= EPOCH_MS + 3_000 && t < EPOCH_MS + 6_000)).toBe(true)
    expect(chart?.t.length).toBeGreaterThan(20)
    for (const c of found(id).cells) if (c.kind !== 'note') expect(c.of.toMs).toBeLessThanOrEqual(EPOCH_MS + 6_000)
  })

  it.each([
    ['after the newest sample', { fromMs: EPOCH_MS + 60_000, toMs: EPOCH_MS + 61_000 }],
    ['longer than five minutes ahead', { fromMs: EPOCH_MS, toMs: EPOCH_MS + 400_000 }],
    ['before there were times', { fromMs: -1, toMs: EPOCH_MS }],
  ])('is refused for a range %s', async (_, span) => {
    const before = host.incidents.notebooks.list().length
    await expect(manual({ span })).rejects.toMatchObject(refusal('INCIDENT_SPAN'))
    expect(host.incidents.notebooks.list()).toHaveLength(before)
  })
})

describe('cells', () => {
  const add = (cell: Parameters<typeof client.incidents.addCell>[0]['cell'], behind: string | null = null) =>
    client.incidents.addCell({ id: 'INC-0001', atMs: null, cell, behind })

  it('are added one by one, each filled', async () => {
    const target = host.monitor.targets[0]?.target ?? ''
    const [job] = [...host.monitor.jobs.all].map((j) => j.jobId)
    const before = kinds('INC-0001').length
    await add({ kind: 'chart', measure: 'rpcs', of: null })
    await add({ kind: 'chart', measure: 'bytes', of: { kind: 'job', name: job ?? '' } })
    await add({ kind: 'chart', measure: 'queued', of: { kind: 'target', name: target } })
    await add({ kind: 'chart', measure: 'targets', of: null })
    for (const table of ['movers', 'top', 'targets'] as const) await add({ kind: 'table', table })
    await add({ kind: 'diff' })
    await add({ kind: 'transcript', text: null })
    await add({ kind: 'transcript', text: 'lctl get_param ost.OSS.ost_io.nrs_tbf_rule' })
    const added = found('INC-0001').cells.slice(before)
    expect(added.map((c) => (c.kind === 'chart' || c.kind === 'table' ? c.title : c.kind))).toEqual([
      'RPCs',
      'Throughput',
      'Queued RPCs',
      'Service time',
      'Top movers',
      'Largest jobs',
      'Targets',
      'diff',
      'transcript',
      'transcript',
    ])
    expect(new Set(found('INC-0001').cells.map((c) => c.id)).size).toBe(before + 10)
  })

  it('are refused where there is nothing to freeze, in words', async () => {
    const before = found('INC-0001')
    const none = [
      { kind: 'chart', measure: 'serviceMs', of: { kind: 'job', name: 'x' } },
      { kind: 'chart', measure: 'bytes', of: { kind: 'target', name: 'x' } },
      { kind: 'chart', measure: 'rpcs', of: { kind: 'job', name: "nobody'; DROP TABLE job" } },
      { kind: 'chart', measure: 'queued', of: { kind: 'target', name: '../x' } },
      { kind: 'transcript', text: ' \n ' },
    ] as const
    for (const cell of none) await expect(add(cell)).rejects.toMatchObject(refusal('NOTHING_TO_FREEZE'))
    await expect(add({ kind: 'verdict', run: null })).rejects.toMatchObject(refusal('NO_RESULT'))
    expect(found('INC-0001')).toBe(before)
  })

  it('are moved, edited, removed, and the last removed one comes back where it was', async () => {
    const id = 'INC-0002'
    const { cell: a } = await client.incidents.addCell({ id, atMs: null, cell: { kind: 'note', text: 'a' } })
    const { cell: b } = await client.incidents.addCell({ id, atMs: null, cell: { kind: 'note', text: 'b' }, behind: a })
    const ids = (): string[] => found(id).cells.map((c) => c.id)
    expect(ids().slice(-2)).toEqual([a, b])
    await client.incidents.moveCell({ id, cell: b, by: -100 })
    expect(ids()[0]).toBe(b)
    await client.incidents.editCell({ id, cell: b, text: '<script>alert(1)</script>' })
    expect(found(id).cells[0]).toMatchObject({ text: '<script>alert(1)</script>' })
    const before = found(id).cells
    const chart = before.find((c) => c.kind === 'chart')?.id ?? ''
    await expect(client.incidents.editCell({ id, cell: chart, text: 'x' })).rejects.toMatchObject(refusal('NO_NOTE'))
    await client.incidents.removeCell({ id, cell: a })
    await client.incidents.removeCell({ id, cell: chart })
    const { cell: c } = await client.incidents.addCell({ id, atMs: null, cell: { kind: 'note', text: 'c' } })
    await client.incidents.restoreCell({ id })
    expect(ids()).toEqual([...before.map((x) => x.id).filter((x) => x !== a), c])
    await client.incidents.removeCell({ id, cell: c })
    await client.incidents.restoreCell({ id, cell: a })
    expect(ids()).toEqual(before.map((x) => x.id))
    await client.incidents.restoreCell({ id })
    expect(ids()).toEqual([...before.map((x) => x.id).filter((x) => x !== a), c, a])
    await expect(client.incidents.restoreCell({ id })).rejects.toMatchObject(refusal('NOTHING_REMOVED'))
    await expect(client.incidents.moveCell({ id, cell: 'c999', by: 1 })).rejects.toMatchObject(refusal('NO_CELL'))
    await expect(client.incidents.removeCell({ id: 'INC-0777', cell: a })).rejects.toMatchObject(refusal('NO_INCIDENT'))
  })

  it('stay as they are when the range changes', async () => {
    const before = found('INC-0001').cells
    await client.incidents.change({ id: 'INC-0001', span: { fromMs: EPOCH_MS, toMs: EPOCH_MS + 8_000 } })
    expect(found('INC-0001')).toMatchObject({ fromMs: EPOCH_MS, toMs: EPOCH_MS + 8_000, cells: before })
  })
})

describe('an incident', () => {
  it('is resolved at an instant, opened again, and both stand in the event lane', async () => {
    const id = 'INC-0001'
    await client.incidents.change({ id, status: 'resolved' })
    expect(found(id)).toMatchObject({ status: 'resolved', resolvedMs: EPOCH_MS + 11_000 })
    await client.incidents.change({ id, title: 'done' })
    expect(found(id).resolvedMs).toBe(EPOCH_MS + 11_000)
    await client.incidents.change({ id, status: 'watching' })
    expect(found(id)).toMatchObject({ status: 'watching', resolvedMs: null })
    expect(marks().filter((m) => !m.includes(' opened: '))).toEqual([
      `${id} opened again: done`,
      `${id} resolved: Hog on four OSTs`,
    ])
  })

  it('keeps a title on one line, and is not without one', async () => {
    const title = 'a\n<img src=x onerror=alert(1)>\u202Eb'
    await client.incidents.change({ id: 'INC-0001', title })
    expect(found('INC-0001').title).toBe('a␊<img src=x onerror=alert(1)>‹202E›b')
    const blank = client.incidents.change({ id: 'INC-0001', title: '  ' })
    await expect(blank).rejects.toMatchObject(refusal('NO_TITLE'))
  })

  it('is removed and restored, with its readings', async () => {
    await client.incidents.remove({ id: 'INC-0001' })
    expect((await frame()).incidents.map((i) => i.id)).toEqual(['INC-0002'])
    await client.incidents.restore({ id: 'INC-0001' })
    expect(host.incidents.notebooks.readings('INC-0001').length).toBeGreaterThan(0)
    await expect(client.incidents.restore({ id: 'INC-0001' })).rejects.toMatchObject(refusal('NO_INCIDENT'))
  })

  it('that is damaged stands in the list and can only be removed', async () => {
    writeFileSync(join(data, 'incidents', 'INC-0050.json'), '{"format": 9}')
    const [row] = (await frame('INC-0050')).incidents
    expect(row).toMatchObject({
      id: 'INC-0050',
      cells: 0,
      fault: 'a newer Sluice wrote it (format 9); this one reads up to 1',
    })
    const note = client.incidents.addCell({ id: 'INC-0050', atMs: null, cell: { kind: 'note', text: 'x' } })
    await expect(note).rejects.toMatchObject(refusal('INCIDENT_UNREADABLE'))
    await client.incidents.remove({ id: 'INC-0050' })
    expect(await manual()).toEqual({ id: 'INC-0051' })
  })
})

describe('while something recorded is on screen', () => {
  it('is filled from it, says so, and one of an alert still is of the source', async () => {
    const span = { fromMs: EPOCH_MS + 2_000, toMs: EPOCH_MS + 9_000 }
    await client.history.record({ name: 'kept', span })
    await client.history.open({ name: 'kept' })
    const before = marks().length
    const { id } = await manual({ atMs: EPOCH_MS + 6_000, note: 'seen later' })
    const incident = found(id)
    expect(incident).toMatchObject({ source: { kind: 'RECORDED', cluster: 'demo', scenario: null } })
    // A recording is finite, and has no audit.
    expect(incident.fromMs).toBeGreaterThanOrEqual(span.fromMs)
    expect(incident.toMs).toBeLessThanOrEqual(span.toMs)
    expect(kinds(id)).toEqual(['note', 'chart', 'table', 'diff'])
    for (const c of incident.cells) if (c.kind !== 'note') expect(c.of.kind).toBe('RECORDED')
    // A recording is never appended to.
    expect(marks()).toHaveLength(before)
    expect(host.incidents.notebooks.readings(id)).toEqual([])
    const made = host.incidents.notebooks.create({
      atMs: null,
      span: null,
      title: '',
      note: '',
      cluster: 'demo',
      alert: { kind: 'queue', text: 'oss01: 500 RPCs queued', where: 'oss01', atMs: EPOCH_MS + 10_500 },
    })
    const alerted = found(made.ok ? made.value.id : '')
    expect(alerted).toMatchObject({ title: 'oss01: 500 RPCs queued', author: 'alert', source: { kind: 'EMULATED' } })
    const [note, chart] = alerted.cells
    expect(note).toMatchObject({ kind: 'note' })
    expect(chart).toMatchObject({
      kind: 'chart',
      place: { kind: 'host', names: ['oss01'] },
      limit: { value: expect.any(Number) as number },
    })
    await client.clusters.show({ name: null })
    const none = host.incidents.notebooks.create({ atMs: null, span: null, title: '', note: '', cluster: 'elsewhere' })
    expect(none).toMatchObject({ error: { code: 'NO_SOURCE' } })
  })
})

describe('opened in History', () => {
  it('of two spans that are compared has who moved from A to B', async () => {
    const from = (s: number) => ({ fromMs: EPOCH_MS + s * 1_000, toMs: EPOCH_MS + (s + 3) * 1_000 })
    const a = from(1)
    const b = from(5)
    const { id } = await manual({ atMs: b.toMs, span: b, against: a })
    const { rows } = host.monitor.history.reader().movers(a, b, 'job', 50)
    const table = found(id).cells.find((c) => c.kind === 'table')
    if (table?.kind !== 'table') throw new Error('no table')
    expect(table.columns.map((c) => c.label)).toEqual(['A 00:00:01 to 00:00:04', 'B 00:00:05 to 00:00:08', 'change'])
    for (const r of table.rows) {
      const mover = rows.find((m) => m.name === r.name.text)
      expect(r.values.slice(0, 2)).toEqual([mover?.a, mover?.b].map((v) => expect.closeTo(v ?? NaN, 1) as number))
    }
    const cell = { kind: 'table', table: 'movers', spans: { a, b } } as const
    const { cell: added } = await client.incidents.addCell({ id, atMs: null, cell })
    const again = found(id).cells.find((c) => c.id === added)
    expect(again).toMatchObject({ columns: table.columns, rows: table.rows })
    await client.incidents.remove({ id })
  })
})
