import Database from 'better-sqlite3'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import { locksFrame } from '#core/api/locks.ts'
import { metadataFrame } from '#core/api/padll.ts'
import { tokensFrame } from '#core/api/tokens.ts'
import { NameCollector, NAMES_MOST } from '#core/snapshot/names.ts'
import { fieldsOf, holdersOf } from '#core/snapshot/fields.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { incident as incidentShape } from '#core/snapshot/notebook.ts'
import { makeRedactor, type Pseudonyms } from '#core/snapshot/pseudonyms.ts'
import { FIELD_NAMES } from '#core/snapshot/redact-json.ts'
import { redactIncident } from '#core/snapshot/redact-notebook.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { firstBrokenRecord, GENESIS, nextRecord, type AuditEntry, type AuditRecord } from '../../base/audit.ts'
import { AS_IT_IS, COPIED, columnsOf, type CopiedTable } from '../../history/copied-columns.ts'
import { unpackConvoy } from '../../history/convoy-table.ts'
import { writeExcerpt } from '../../history/excerpt.ts'
import { NOW, openAt, SECOND_MS } from '#tests/kits/electron/history/samples.ts'
import type { BundleSource } from '../bundle/bundle-source.ts'
import { collectNames, namesFailure } from './names.ts'
import { previewOf } from './preview.ts'
import { codeOf } from './pseudonym-key.ts'
import { redactAudit } from './redact-audit.ts'
import { redactReadings } from './redact-readings.ts'

const code = codeOf(Buffer.alloc(32, 3))
const SPAN = { fromMs: NOW, toMs: NOW + 60 * SECOND_MS }

/** Names of people and hosts, each at a different place. */
const SECRET = [
  'tkovac',
  'hartlieb',
  'aeroteam',
  'vasp_std',
  'train.py',
  'altair',
  'oss01',
  'mds07',
  'ccpfs01',
  'qosnode',
  'cn1701',
  'ckptfile.h5',
  'opsperson',
  'opslaptop',
  'loginops',
  'capkovac',
  'borrowerjob',
  'leaverjob',
  '10.3.7.1',
  'u88417',
]
const JOBS = ['46901.vasp_std.u88417', '47112.train.py.u88417', 'weird "job" {x}', "o'brien;rm -rf", 'b\xe9tise\n2']

function auditOf(entries: readonly AuditEntry[]): AuditRecord[] {
  const out: AuditRecord[] = []
  for (const e of entries) out.push(nextRecord(out.at(-1), e))
  return out
}

const by = {
  cluster: 'altair',
  plan: 'p1',
  who: 'opsperson@opslaptop',
  login: `loginops SHA256:${'a'.repeat(43)}`,
  monoMs: 5,
}
const sent = `lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start capkovac jobid={${JOBS[0]}} nid={10.3.7.1@tcp} rate=70'`
const slice = {
  records: auditOf([
    { atMs: NOW, server: 'oss01', kind: 'intent', text: sent, by },
    { atMs: NOW + 1, server: 'oss01', kind: 'outcome', text: 'applied: verified by read-back', by },
    { atMs: NOW + 2, server: 'altair', kind: 'mode', text: 'opsperson unlocked altair', by },
  ]),
  anchor: GENESIS,
  verified: true,
}

const readings = [
  {
    atMs: NOW,
    server: 'oss01',
    what: 'obdfilter.altair-OST0003.job_stats',
    text: `job_stats:\n- job_id:          46901.vasp_std.u88417\n  snapshot_time:   1795281129.2\n  read_bytes:      { samples: 46901, unit: bytes, min: 4096 }\n- job_id: "b\\xE9tise\\x0A2"\n`,
  },
  {
    atMs: NOW,
    server: 'oss01',
    what: 'ost.OSS.ost_io.nrs_tbf_rule',
    text: `regular_requests:\nCPT 0:\ncapkovac jobid={*.train.py.*} 70, ref 0\ndefault * 10000, ref 0\n`,
  },
]

const of = { kind: 'EMULATED', cluster: 'altair', ...SPAN, tier: 'raw', frozenMs: NOW } as const
const notebook: Incident = incidentShape.parse({
  format: 1,
  id: 'INC-0001',
  title: 'tkovac filled altair-OST0003',
  status: 'open',
  author: 'opsperson',
  source: { kind: 'EMULATED', cluster: 'altair', env: 'PROD', scenario: 'altair by tkovac', seed: 1 },
  createdMs: NOW,
  changedMs: NOW,
  resolvedMs: null,
  ...SPAN,
  alert: { kind: 'convoy', text: 'Convoy on ckptfile.h5 / 3', where: 'ckptfile.h5 / 3', atMs: NOW },
  cells: [
    {
      id: '1',
      atMs: NOW,
      kind: 'note',
      text: `Job 46901 of tkovac (hartlieb?) on cn1701, see ${JOBS[2]} and 10.3.7.1`,
    },
    {
      id: '2',
      atMs: NOW,
      kind: 'chart',
      title: 'Writes of tkovac',
      unit: 'RPC/s',
      t: [NOW],
      of,
      place: { kind: 'job', names: [JOBS[0]] },
      series: [{ label: { kind: 'user', text: 'hartlieb' }, ink: 1, area: false, values: [1] }],
      limit: { value: 1, label: 'cap of tkovac' },
      marks: [{ atMs: NOW, text: 'capkovac by opsperson', level: 'ok' }],
    },
    {
      id: '3',
      atMs: NOW,
      kind: 'table',
      title: 'Top movers on altair',
      known: 1,
      of,
      columns: [{ label: 'A', unit: 'RPC/s', signed: false }],
      rows: [{ name: { kind: 'account', text: 'aeroteam' }, ink: 1, values: [1] }],
    },
    {
      id: '4',
      atMs: NOW,
      kind: 'diff',
      title: 'Rules',
      service: 'ost_io',
      servers: 1,
      more: 0,
      of,
      lines: [{ kind: 'add', name: 'capkovac', conditions: `jobid={${JOBS[0]}}`, before: null, after: 70 }],
    },
    {
      id: '5',
      atMs: NOW,
      kind: 'verdict',
      title: 'Cap tkovac',
      detail: 'of altair',
      seeds: 3,
      of,
      parts: [{ text: 'tkovac waits', strong: true }],
      unknown: ['what hartlieb does'],
    },
    {
      id: '6',
      atMs: NOW,
      kind: 'transcript',
      audit: null,
      of,
      lines: [{ atMs: NOW, where: 'oss01', kind: 'pasted', text: sent }],
    },
  ],
})

function sourceOf(): { source: BundleSource; file: string } {
  const file = join(tempFolder(), 'history.sqlite')
  const history = openAt(file)
  history.beginSource('EMULATED', 'altair', 'altair of tkovac', NOW)
  const facts = (jobId: string): { jobId: string; user: string; account: string; nodes: number } => ({
    jobId,
    user: jobId.startsWith('46901') ? 'tkovac' : 'hartlieb',
    account: 'aeroteam',
    nodes: 4,
  })
  const sample = (jobId: string): Parameters<typeof history.record>[1][number] => ({
    jobId,
    rpcs: 5,
    readBps: 1,
    writeBps: 1,
    throttled: 0,
    record: 1,
    mdops: 1,
  })
  const target = { target: 'altair-OST0003', node: 'oss01', rpcs: 5, serviceMs: 2, queued: 1 }
  for (let s = 0; s < 20; s++) history.record(NOW + s * SECOND_MS, JOBS.map(sample), [target], facts)
  history.recordRules(NOW + SECOND_MS, 'oss01', [
    { queue: 'reg', cpt: 0, name: 'capkovac', conditions: `jobid={${JOBS[0]} *.train.py.*}`, rate: 70, ref: 0 },
  ])
  history.recordMoves(
    [
      {
        atMs: NOW,
        target: 'altair-OST0003',
        node: 'oss01',
        lender: 'leaverjob',
        borrower: 'borrowerjob',
        kind: 'lend',
        tokens: 3,
      },
    ],
    facts,
  )
  history.recordEvent({
    atMs: NOW + 5,
    kind: 'job',
    level: 'idle',
    subject: 'Job',
    text: `${JOBS[3]} of hartlieb joins`,
    where: 'qosnode',
  })
  history.recordLdlm(NOW, 'mds07', [
    {
      namespace: 'mdt-altair-MDT0000_UUID',
      locks: 1,
      unused: 0,
      resources: 1,
      granted: 1,
      grants: 1,
      cancels: 1,
      limit: 1,
      timeouts: 0,
      contentions: 0,
    },
  ])
  history.recordPlane('lock_resources', NOW + 10, [
    { name: 'ckptfile.h5 / 3', place: 'ccpfs01', jobId: '', values: [1, 2, 3, 4] },
  ])
  history.recordPlane('token_clients', NOW + 10, [
    { name: 'cn1701', place: 'ccpfs01', jobId: JOBS[1] ?? '', values: [1, 2, 3, 4] },
  ])
  history.keepConvoy(
    { resource: 'ckptfile.h5 / 3', server: 'ccpfs01', fromMs: NOW + 10, toMs: NOW + 20, waiting: 9 },
    {
      key: 'ckptfile.h5 / 3',
      clients: [{ name: 'cn1701', jobId: JOBS[1] }],
      notices: [{ what: 'cn1701 fell silent' }],
    },
  )
  history.close()
  const db = new Database(file, { readonly: true })
  const source: BundleSource = {
    db,
    cluster: 1,
    isRedacted: false,
    notebook: null,
    audit: () => slice,
    readings: () => readings,
    source: {
      kind: 'EMULATED',
      cluster: 'altair',
      env: 'PROD',
      scenario: 'altair by tkovac',
      seed: 1,
      releases: [{ server: 'oss01', release: '2.15.8' }],
    },
  }
  return { source, file }
}

const redactorOf = (source: BundleSource): Pseudonyms => makeRedactor(collectNames(source, SPAN, notebook), code)
const left = (bytes: string): string[] => [...SECRET, ...JOBS].filter((name) => bytes.includes(name))

describe('a search of everything that leaves', () => {
  it('finds no name of the site in the excerpt of the history, also in the convoys that are packed in it', async () => {
    const { source, file: whole } = sourceOf()
    expect(left(readFileSync(whole).toString('latin1'))).toContain('tkovac')
    const file = join(tempFolder(), 'excerpt.qosrec')
    const written = await writeExcerpt(source.db, 1, SPAN, file, {
      redactor: redactorOf(source),
      detail: 'all',
      keepJobs: new Set<string>(),
    })
    expect(written.ok).toBe(true)
    expect(left(readFileSync(file).toString('latin1'))).toEqual([])
    expect(left(readFileSync(file).toString('utf8'))).toEqual([])
    const excerpt = new Database(file, { readonly: true })
    const tables = excerpt.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[]
    const rows = tables.flatMap((t) => excerpt.prepare(`SELECT * FROM ${t}`).all())
    expect(left(JSON.stringify(rows))).toEqual([])
    const convoys = excerpt.prepare('SELECT data FROM convoy').pluck().all() as Buffer[]
    expect(convoys.length).toBe(1)
    expect(left(JSON.stringify(convoys.map(unpackConvoy)))).toEqual([])
    expect(excerpt.prepare('SELECT count(*) FROM plane_series').pluck().get()).toBe(2)
    expect(excerpt.prepare('SELECT count(*) FROM job').pluck().get()).toBe(JOBS.length + 2)
    excerpt.close()
    source.db.close()
  })

  it('finds none in the notebook, the audit and the readings, and all are still what they were', () => {
    const { source } = sourceOf()
    const r = redactorOf(source)
    const redacted = redactIncident(notebook, r)
    const audit = redactAudit(slice, r)
    const texts = redactReadings(readings, r)
    expect(left(JSON.stringify([redacted, audit, texts]))).toEqual([])
    expect(left(JSON.stringify([redacted, audit, texts]).replaceAll('\\"', '"').replaceAll('\\n', '\n'))).toEqual([])
    expect(incidentShape.parse(redacted)).toEqual(redacted)
    expect(redacted.cells.map((c) => c.kind)).toEqual(notebook.cells.map((c) => c.kind))
    expect(texts[0]?.text).toContain('{ samples: 46901, unit: bytes, min: 4096 }')
    expect(texts[1]?.text).toMatch(
      /^regular_requests:\nCPT 0:\nr_\w+ jobid=\{\*\.app-\w+\.\*\} 70, ref 0\ndefault \* 10000, ref 0\n$/,
    )
    expect(redactIncident(redacted, r)).toEqual(redacted)
    expect(redactReadings(texts, r)).toEqual(texts)
    source.db.close()
  })

  it('exploit: a job by its number alone, in a typed title, a verdict, a reason and pasted text', () => {
    const { source } = sourceOf()
    const r = redactorOf(source)
    const number = '46901'
    const verdict = notebook.cells.find((c) => c.kind === 'verdict')
    const transcript = notebook.cells.find((c) => c.kind === 'transcript')
    if (!verdict || !transcript) throw new Error('no such cell')
    const line = { atMs: NOW, where: 'oss01' }
    const named: Incident = {
      ...notebook,
      title: `${number} floods OST0003`,
      cells: [
        { ...verdict, parts: [{ text: number, strong: true }], detail: `under B ${number} waits 3 % longer` },
        {
          ...transcript,
          lines: [
            { ...line, kind: 'mode', text: `stop cap; reason: ${number} ended` },
            { ...line, kind: 'pasted', text: `  ${number}  batch  R` },
          ],
        },
      ],
    }
    const audit = redactAudit(
      {
        ...slice,
        records: auditOf([{ atMs: NOW, server: 'altair', kind: 'mode', text: `stop cap; reason: ${number} ended` }]),
      },
      r,
    )
    expect(JSON.stringify([redactIncident(named, r), audit.records.map((a) => a.text)])).not.toContain(number)
    source.db.close()
  })

  it('the same name is the same stand-in in the history, the notebook and the audit', () => {
    const { source } = sourceOf()
    const r = redactorOf(source)
    const redacted = redactIncident(notebook, r)
    const job = r.name('job', JOBS[0] ?? '')
    const [, chart, , diff] = redacted.cells
    expect(chart?.kind === 'chart' && chart.place.names).toEqual([job])
    expect(diff?.kind === 'diff' && diff.lines[0]?.conditions).toBe(`jobid={${job}}`)
    expect(redactAudit(slice, r).records[0]?.text).toContain(`jobid={${job}}`)
    source.db.close()
  })
})

describe('the audit', () => {
  it('exploit: texts cannot be guessed by their hashes, the chain is computed again and holds', () => {
    const { source } = sourceOf()
    const redacted = redactAudit({ ...slice, verified: false }, redactorOf(source))
    expect(firstBrokenRecord(redacted.records, redacted.anchor)).toBeUndefined()
    expect(redacted.anchor).toBe(GENESIS)
    expect(redacted.verified).toBe(false)
    const old = new Set(slice.records.map((r) => r.hash))
    expect(redacted.records.filter((r) => old.has(r.hash))).toEqual([])
    expect(redacted.records.map((r) => [r.number, r.atMs, r.kind])).toEqual(
      slice.records.map((r) => [r.number, r.atMs, r.kind]),
    )
    source.db.close()
  })
})

describe('fields', () => {
  const marker = {
    isOn: true,
    name: () => 'NAME',
    conditions: () => 'NAME',
    text: () => 'TEXT',
    prose: () => 'TEXT',
    json: () => ({ TEXT: 'TEXT' }),
  }
  const WORDS = new Set(['TEXT'])

  it.each(Object.keys(COPIED) as CopiedTable[])('of %s are listed as they are written', (table) => {
    const columns = columnsOf(table)
    const listed = new Map(fieldsOf('history', table).map((f) => [f.field.split('.')[1], f.how]))
    expect([...listed.keys()].sort()).toEqual(columns.map(([name]) => name).sort())
    for (const [name, treat] of columns) {
      const how = listed.get(name)
      if (treat === AS_IT_IS) expect([name, how]).toEqual([name, 'kept'])
      else if (how === 'pseudonym') {
        const value = name === 'allocations' ? '[["j",1,2]]' : 'someone'
        expect([name, String(treat(value, marker)).includes('NAME')]).toEqual([name, true])
      } else if (how === 'names replaced' && name !== 'data')
        expect([name, treat('someone', marker)]).toEqual([name, 'TEXT'])
      // A kept field holds a word of the product; any other text becomes empty.
      else if (how === 'kept') expect(['', ...WORDS]).toContain(treat('someone', marker))
    }
  })

  it('every table of the history that leaves is listed', () => {
    expect(
      holdersOf('history')
        .filter((t) => t !== 'samples')
        .sort(),
    ).toEqual(Object.keys(COPIED).sort())
  })

  it('every field of the kept frames is known by name', () => {
    const names = new Set<string>()
    const walk = (shape: unknown): void => {
      if (shape instanceof z.ZodObject) {
        for (const [key, inner] of Object.entries(shape.shape)) {
          names.add(key)
          walk(inner)
        }
      } else if (shape instanceof z.ZodArray) walk(shape.element)
      else if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable) walk(shape.unwrap())
    }
    for (const shape of [locksFrame, metadataFrame, tokensFrame]) walk(shape)
    expect(names.size).toBeGreaterThan(100)
    expect([...names].filter((n) => !FIELD_NAMES.has(n))).toEqual([])
  })
})

describe('the preview', () => {
  const input = { incident: 'INC-0001', span: SPAN, redact: true, detail: 'fit', leaveOut: [], name: null } as const

  it('shows the names, what stands for them, and which of them people wrote', async () => {
    const { source } = sourceOf()
    const made = await previewOf(source, { ...input, leaveOut: [] }, notebook, code)
    if (!made.ok) throw new Error(made.error.what)
    const r = redactorOf(source)
    const users = made.value.names.find((n) => n.kind === 'user')
    expect(users?.samples).toContainEqual({ from: 'tkovac', to: r.name('user', 'tkovac') })
    expect(made.value.findings).toContainEqual({ cell: '1', name: 'tkovac', to: r.name('user', 'tkovac') })
    expect(made.value.findings).toContainEqual({ cell: 'title', name: 'tkovac', to: r.name('user', 'tkovac') })
    expect(made.value.contents.map((c) => c.group)).toEqual([
      null,
      'history',
      'csv',
      'rules',
      'notebook',
      'audit',
      'readings',
      'charts',
    ])
    expect(made.value.bytes).toBe(made.value.contents.reduce((n, c) => n + c.bytes, 0))
    expect(made.value.never.join()).toContain('SSH keys')
    source.db.close()
  })

  it('without redaction nothing is replaced, and what is left out is not listed', async () => {
    const { source } = sourceOf()
    const made = await previewOf(source, { ...input, redact: false, leaveOut: ['audit', 'notebook'] }, notebook, code)
    if (!made.ok) throw new Error(made.error.what)
    expect(new Set(made.value.fields.map((f) => f.how))).toEqual(new Set(['kept']))
    expect(made.value.fields.some((f) => f.group === 'audit')).toBe(false)
    expect([made.value.names, made.value.findings]).toEqual([[], []])
    expect(made.value.contents.find((c) => c.group === 'audit')?.left).toBe(true)
    source.db.close()
  })

  it('says that nothing is kept of an empty span', async () => {
    const { source } = sourceOf()
    const span = { fromMs: NOW - 7_200_000, toMs: NOW - 3_600_000 }
    const made = await previewOf(source, { ...input, leaveOut: [], span }, null, code)
    expect(made.ok && made.value.missing).toContain('No data in this range.')
    source.db.close()
  })
})

it('exploit: more names than are known at once are refused, never half replaced', () => {
  const names = new NameCollector()
  for (let i = 0; i <= NAMES_MOST; i++) names.add('user', `n${i}`)
  expect(names.isComplete).toBe(false)
  expect(namesFailure(names)?.code).toBe('NAMES_TOO_MANY')
  expect(() => makeRedactor(names, code)).toThrow(/every name/)
})
