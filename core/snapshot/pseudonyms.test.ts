import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { ENDED_JOBS } from '../adaptbf/ended-jobs.ts'
import { shortHash } from '../base/hash.ts'
import { isVerbatim, COMMON_WORDS, NameCollector, type PlainKind } from './names.ts'
import { isWord } from './name-matcher.ts'
import type { NameKind } from './notebook.ts'
import { PLAIN } from './redactor.ts'
import { makeRedactor, type Pseudonyms } from './pseudonyms.ts'
import { starPattern } from '../base/star-pattern.ts'
import { isNumber, isProductWord, type NameCode } from './pseudonym-table.ts'

/** Few different letters, so that short codes often collide. */
const codeBy =
  (key: string): NameCode =>
  (kind, text) =>
    [1, 2, 3, 4].map((i) => shortHash(`${key}${i}${kind}\u0000${text}`)).join('')

const collectorOf = (names: Partial<Record<PlainKind, readonly string[]>>): NameCollector => {
  const collector = new NameCollector()
  for (const [kind, all] of Object.entries(names)) for (const name of all) collector.add(kind as PlainKind, name)
  return collector
}
const redactorOf = (names: Partial<Record<PlainKind, readonly string[]>>, key = 'k'): Pseudonyms =>
  makeRedactor(collectorOf(names), codeBy(key))

const plainName = fc.stringMatching(/^[a-z][a-z0-9_-]{1,11}$/)
const hostile = fc.oneof(
  fc.string({ minLength: 1, maxLength: 31, unit: anyCharacter }),
  fc.string({ minLength: 1, maxLength: 31 }),
  fc.stringMatching(/^[\x01-\xff]{1,31}$/),
  fc.constantFrom(
    '.*',
    '(a+)+$',
    '[x',
    '\\d',
    'a\nb',
    "o'brien",
    '"quoted"',
    '<b>',
    '${x}',
    '=1+1',
    '__proto__',
    'ümlaut',
  ),
  fc.stringMatching(/^(?:job|app|user|acct|oss)-[0-9a-f]{4,6}$/),
  fc.stringMatching(/^[0-9a-f]{4,6}$/),
)
const anyName = fc.oneof(plainName, hostile)
const number = fc.integer({ min: 1000, max: 999_999 }).map(String)
const jobId = fc.oneof(
  fc.tuple(number, plainName, fc.integer({ min: 100, max: 99_999 })).map(([n, e, u]) => `${n}.${e}.u${u}`),
  fc.tuple(plainName, fc.integer({ min: 100, max: 9999 })).map(([e, u]) => `${e}.${u}`),
  number,
  hostile,
)
const site = fc.record({
  job: fc.array(jobId, { maxLength: 8 }),
  user: fc.array(anyName, { maxLength: 5 }),
  account: fc.array(anyName, { maxLength: 4 }),
  exe: fc.array(anyName, { maxLength: 5 }),
  host: fc.array(anyName, { maxLength: 5 }),
  cluster: fc.array(anyName, { maxLength: 1 }),
  filesystem: fc.array(plainName, { maxLength: 1 }),
  file: fc.array(anyName, { maxLength: 3 }),
})
type Site = typeof site extends fc.Arbitrary<infer T> ? T : never

/** Every place in which a name can occur, as one text. */
function everywhere(s: Site, r: Pseudonyms): string {
  const kinds = ['job', 'user', 'account', 'exe', 'host', 'cluster'] as const
  const all = kinds.flatMap((kind) => s[kind].map((n) => ({ kind, n })))
  const cells = all.map(({ kind, n }) => r.name(kind, n))
  const targets = s.filesystem.map((f) => r.name('target', `${f}-OST0003`))
  const rules = s.job.filter((j) => !/[\s{},&*]/.test(j)).map((j) => r.conditions(`jobid={${j}} & opcode={ost_write}`))
  const notes = all.map(({ n }) => r.text(`It was ${n} (again), said "${n}".`))
  const nested = r.json({ resource: { name: s.file }, alarms: [{ text: s.job.join(' and ') }], tree: { jobId: s.job } })
  const sent = s.job.map((j) => r.text(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start x1 jobid={${j}} rate=5'`))
  return [...cells, ...targets, ...rules, ...notes, JSON.stringify(nested), ...sent].join('\n')
}

const DIFFERENT: Site = {
  job: [],
  user: ['q'],
  account: [],
  exe: [],
  host: [],
  cluster: [],
  filesystem: ['q'],
  file: ['q'],
}
const fixed = ((): string => {
  const r = redactorOf({})
  return [
    everywhere(DIFFERENT, r),
    'It was (again), said "". rows name alarms text and tree jobId lctl set_param jobid={} opcode={ost_write} rate=5',
    'job- app- user- acct- host- oss- mds- cluster- fs- file- target- r_ x-',
  ].join('\n')
})()

/** Name that does not occur in the text otherwise. */
const isTelling = (n: string): boolean =>
  !isVerbatim(n) && !isProductWord(n) && !isNumber(n) && n.trim() !== '' && /[A-Za-z0-9]/.test(n) && !fixed.includes(n)

function tokenAt(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (isWord(text, at, at + name.length)) return true
  }
  return false
}

describe('names leave no trace', () => {
  it('none of the names is in what is written, as a word; none of five characters and more at all', () => {
    fc.assert(
      fc.property(site, (s) => {
        const r = makeRedactor(collectorOf(s), codeBy('k'))
        const out = everywhere(s, r)
        for (const n of Object.values(s).flat()) {
          if (!isTelling(n)) continue
          if (n.length >= 5 && !COMMON_WORDS.has(n)) expect(out.includes(n), JSON.stringify(n)).toBe(false)
          else expect(tokenAt(out, n), JSON.stringify(n)).toBe(false)
        }
      }),
      { numRuns: 120 },
    )
  })

  it('redacting twice changes nothing', () => {
    fc.assert(
      fc.property(site, (s) => {
        const r = makeRedactor(collectorOf(s), codeBy('k'))
        for (const kind of ['job', 'user', 'account', 'exe', 'host', 'cluster'] as const) {
          for (const n of s[kind]) {
            const once = r.name(kind, n)
            expect(r.name(kind, once)).toBe(once)
            const text = r.text(`before ${n}, after`)
            expect(r.text(text)).toBe(text)
          }
        }
        for (const j of s.job) {
          const rule = r.conditions(`jobid={${j} *.bwa.* ${j}*}, uid={884} & nid={10.3.*.*@tcp}`)
          expect(r.conditions(rule)).toBe(rule)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('no two names of a kind share a pseudonym, and each keeps its own', () => {
    fc.assert(
      fc.property(site, (s) => {
        const a = makeRedactor(collectorOf(s), codeBy('k'))
        const b = makeRedactor(collectorOf(s), codeBy('k'))
        for (const kind of ['job', 'user', 'account', 'exe', 'cluster'] as const) {
          const all = [...new Set(s[kind])]
          const made = all.map((n) => a.name(kind, n))
          expect(new Set(made).size).toBe(all.length)
          expect(all.map((n) => b.name(kind, n))).toEqual(made)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('ten thousand names whose codes often collide stay distinct', () => {
    const users = Array.from({ length: 10_000 }, (_, i) => `person${i}`)
    const r = makeRedactor(collectorOf({ user: users }), codeBy('k'))
    expect(new Set(users.map((u) => r.name('user', u))).size).toBe(users.length)
  })

  it('names that were not collected are replaced in fields, too', () => {
    const r = redactorOf({})
    for (const kind of ['job', 'user', 'account', 'exe', 'host', 'cluster', 'rule'] as NameKind[]) {
      expect(r.name(kind, 'tkovac')).not.toContain('tkovac')
    }
  })

  it('PLAIN changes nothing', () => {
    fc.assert(
      fc.property(anyName, (n) => {
        expect([PLAIN.name('job', n), PLAIN.conditions(n), PLAIN.text(n), PLAIN.json([n])]).toEqual([n, n, n, [n]])
      }),
    )
  })
})

describe('forms', () => {
  const names = {
    job: ['4690.python.u1021', '4711.cfd_solve.u884'],
    user: ['tkovac'],
    host: ['oss01', 'mds02', 'cn17'],
  }

  it('job ids keep their parts and fit in 31 bytes of what Lustre prints', () => {
    const r = redactorOf(names)
    expect(r.name('job', '4690.python.u1021')).toMatch(/^job-\w{6}\.app-\w{4}\.user-\w{4}$/)
    expect(r.name('job', '4690.python.u1021').split('.')[1]).toBe(r.name('exe', 'python'))
    expect(r.name('job', '4690')).toBe(r.name('job', '4690.python.u1021').split('.')[0])
    fc.assert(
      fc.property(jobId, (id) => {
        if (!isVerbatim(id)) expect(redactorOf({ job: [id] }).name('job', id)).toMatch(/^[A-Za-z0-9._-]{1,31}$/)
      }),
    )
  })

  it('rule names stay valid, and that of a controller still shows the controller', () => {
    const r = redactorOf(names)
    expect(r.name('rule', 'j4690_cap')).toMatch(/^r_\w{6,8}$/)
    expect(r.name('rule', 'ab_7f46243a33')).toMatch(/^ab_[0-9a-f]{10}$/)
    expect(r.name('rule', 'ab_7f46243a33')).not.toBe('ab_7f46243a33')
    expect(r.text('gone: ab_7f46243a33')).not.toContain('7f46243a33')
    fc.assert(
      fc.property(hostile, (n) => {
        if (!isVerbatim(n)) expect(r.name('rule', n)).toMatch(/^[A-Za-z0-9_]{1,15}$/)
      }),
    )
  })

  it('hosts keep their role, targets their index', () => {
    const r = redactorOf(names)
    expect(r.name('host', 'oss01')).toMatch(/^oss-\w{4}$/)
    expect(r.name('host', 'mds02')).toMatch(/^mds-\w{4}$/)
    expect(r.name('host', 'mds02/mdt_readpage')).toBe(`${r.name('host', 'mds02')}/mdt_readpage`)
    expect(r.name('target', 'altair-OST0003')).toMatch(/^fs-\w{4}-OST0003$/)
    expect(r.name('target', 'filter-altair-OST0003_UUID')).toBe(`filter-${r.name('target', 'altair-OST0003')}_UUID`)
  })

  it('names that identify no one stay', () => {
    const r = redactorOf({ ...names, user: ['rate', 'default'] })
    for (const n of ['default', '*', '(321 other jobs)', ENDED_JOBS, 'root', '']) expect(r.name('job', n)).toBe(n)
    expect(r.name('user', 'rate')).not.toBe('rate')
    expect(r.conditions('*')).toBe('*')
  })
})

describe('rules', () => {
  const part = fc.constantFrom('bwa', 'wrf.exe', 'python', 'u884', 'u1021', '4690', '4711', 'cn17')
  const id = fc.array(part, { minLength: 1, maxLength: 3 }).map((p) => p.join('.'))

  it('a redacted rule matches exactly the redacted jobs, for patterns of whole parts', () => {
    const pattern = fc.array(fc.oneof(part, fc.constant('*')), { minLength: 1, maxLength: 3 }).map((p) => p.join('.'))
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 12 }), pattern, (jobs, item) => {
        const r = redactorOf({ job: jobs, exe: ['wrf.exe', 'bwa', 'python'], host: ['cn17'] })
        const [, made = ''] = /^jobid=\{(.*)\}$/.exec(r.conditions(`jobid={${item}}`)) ?? []
        const before = starPattern(item)
        const after = starPattern(made)
        // Inexact patterns are counted; nothing else may differ.
        if (r.inexact === 0) for (const j of jobs) expect(after(r.name('job', j)), `${item} ${j}`).toBe(before(j))
        else expect(item).toContain('*')
      }),
      { numRuns: 200 },
    )
  })

  it('the usual patterns are carried over whole', () => {
    const jobs = ['4690.wrf.exe.u884', '4711.bwa.u884', '4711.bwa.u1021', '4712.python.u884']
    for (const item of ['*.bwa.*', '4711.*', '*.u884', '*.wrf.exe.*', '4690.wrf.exe.u884']) {
      const r = redactorOf({ job: jobs, exe: ['wrf.exe', 'bwa', 'python'] })
      const made = r.conditions(`jobid={${item}}`).slice(7, -1)
      expect(r.inexact).toBe(0)
      expect(jobs.map((j) => starPattern(made)(r.name('job', j)))).toEqual(jobs.map(starPattern(item)))
    }
  })

  it('a star inside a part is counted as not carried over', () => {
    const r = redactorOf({ job: ['4711.python.u884'], exe: ['python'] })
    expect(r.conditions('jobid={*.py*.*}')).not.toContain('py*')
    expect(r.inexact).toBe(1)
  })

  it('a user called rate, an account called jobid and a program called start do not wreck the grammar', () => {
    const r = redactorOf({ user: ['rate', 'reg'], account: ['jobid'], exe: ['start'], job: ['rate.start.u1'] })
    const sent = "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start sl_cap jobid={rate.start.u1} rate=70'"
    expect(r.text(sent)).toMatch(
      /^lctl set_param ost\.OSS\.ost_io\.nrs_tbf_rule='reg start sl_\w{6} jobid=\{[\w.-]+\} rate=70'$/,
    )
    expect(r.conditions('jobid={a b*} & nid={*@tcp} , uid={884}')).toMatch(
      /^jobid=\{\S+ \S+\*\} & nid=\{\*@tcp\} , uid=\{\d{9}\}$/,
    )
  })

  it('networks stay networks', () => {
    const r = redactorOf({ address: ['10.3.7.1@tcp', '10.3.8.2@tcp', '10.4.7.1@tcp'] })
    const [a, b, c] = ['10.3.7.1@tcp', '10.3.8.2@tcp', '10.4.7.1@tcp'].map((n) => r.name('host', n)) as [
      string,
      string,
      string,
    ]
    const net = (text: string): string => text.split('.').slice(0, 2).join('.')
    expect(net(a)).toBe(net(b))
    expect(net(a)).not.toBe(net(c))
    expect(r.conditions('nid={10.3.*.*@tcp}')).toBe(`nid={${net(a)}.*.*@tcp}`)
    expect(r.text('from 10.3.7.1 and 10.3.8.2')).toBe(`from ${a.slice(0, -4)} and ${b.slice(0, -4)}`)
    const all = Array.from({ length: 256 }, (_, i) => r.name('host', `10.3.7.${i}`))
    expect(new Set(all).size).toBe(256)
  })
})

describe('free text', () => {
  it('numbers are replaced where they are jobs and stay where they are figures', () => {
    const r = redactorOf({ job: ['4690', '4711.bwa.u884'] })
    const job = r.name('job', '4690')
    const other = r.name('job', '4711')
    expect(r.text('job 4690 ran 4690 RPC/s, jobid=4690')).toBe(`job ${job} ran 4690 RPC/s, jobid=${job}`)
    expect(r.text('jobs 4690, 4711 and 4690; slurm-4690.out')).toBe(
      `jobs ${job}, ${other} and ${job}; slurm-${job}.out`,
    )
    expect(r.text('12 jobs, 4690 of 4711 locks')).toBe('12 jobs, 4690 of 4711 locks')
    expect(r.text('job 99999 is not known here')).not.toContain('99999')
  })

  it('in prose a known job number on its own is a job, with a unit it is a figure', () => {
    const r = redactorOf({ job: ['4690', '4711.bwa.u884', '57.cp.u1'] })
    const job = r.name('job', '4690')
    const other = r.name('job', '4711')
    expect(r.prose(`4690 floods OST0003, (4711) waits; hog: 4690, 4711's writes`)).toBe(
      `${job} floods OST0003, (${other}) waits; hog: ${job}, ${other}'s writes`,
    )
    const figures =
      'at 4690 RPC/s, 4711 locks, 4690 MB/s, 4711 %, rate=4690, 4690.5, 4,690, 12:4711, 57 targets, since 2026'
    expect(r.prose(figures)).toBe(figures)
    expect(r.prose(r.prose('4690 and 4711'))).toBe(`${job} and ${other}`)
    expect(r.findings('4690 floods it', true)).toEqual([{ from: '4690', to: job }])
    // Commands and readings consist of figures.
    expect(r.text('4690 ref 4711')).toBe('4690 ref 4711')
  })

  it('short names are words: an exe called cp leaves a cpu alone', () => {
    const r = redactorOf({ exe: ['cp', 'ls'], user: ['al'] })
    const cp = r.name('exe', 'cp')
    const al = r.name('user', 'al')
    expect(r.text('al ran cp on cpu 3, totals also, cpx')).toBe(`${al} ran ${cp} on cpu 3, totals also, cpx`)
  })

  it('fingerprints and public keys go', () => {
    const r = redactorOf({})
    const print = 'SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDPBBMyJ3Vp2xYhbcE'
    expect(r.text(`ops with ${print}`)).toMatch(/^ops with key-\w{8}$/)
  })
})
