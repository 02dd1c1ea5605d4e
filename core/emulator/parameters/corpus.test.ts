/**
 * Compares the parameters of emulated nodes with those listed by real nodes of the same releases: each exists on a real node
 * too, in the same tree, and is writable only if it is writable there.
 */
import { describe, expect, it } from 'vitest'
import { CORPUS, corpusRecords } from '../../../tests/corpus.ts'
import { makeTestfs, type Testfs } from '../../../tests/node/testfs.ts'
import { parseDevices } from '../../lustre/devices.ts'
import { profileOf } from '../../lustre/profile.ts'
import { parseVersion } from '../../lustre/version.ts'
import { Simulation } from '../../sim/simulation.ts'
import { EmulatedNode } from '../node.ts'
import { modeOf } from '../parameter.ts'

if (CORPUS === '') console.log('parameters/corpus.test.ts: skipped, SLUICE_CORPUS does not name a folder of answers')

/** Removes the generated parts of a name: mount instances and the kind of disk. */
const common = (name: string): string => name.replace(/ffff[0-9a-f]{12}/g, 'INSTANCE').replace(/\bosd-\w+/, 'osd-KIND')

/** Node from which the answers of a version were recorded. */
function fixture(version: string): Testfs {
  const { release } = profileOf(parseVersion(version))
  return makeTestfs({ version, cpts: 2, osd: release === '2.15' ? 'zfs' : 'wbcfs', hasLocks: true })
}

describe.skipIf(CORPUS === '')('the parameters of an emulated node', () => {
  const records = corpusRecords()
  const versions = [...new Set(records.map((r) => r.lustre))]

  it.each(versions)('are those of a real node of %s', (version) => {
    const ofVersion = records.filter((r) => r.lustre === version)
    /** Listed names, with their writability where it was listed. */
    const real = new Map<string, boolean | undefined>()
    /** Patterns of complete listings: with -R everything below, without it names of the same depth. */
    const listings: RegExp[] = []
    for (const r of ofVersion) {
      const m = /^lctl (?:list_param|get_param -N\w*) ((?:-\w+ )*)(.*)$/.exec(r.command)
      if (!m || r.exit !== 0) continue
      const [isTyped, isDeep] = ['F', 'R'].map((o) => `${m[1]} ${/-N\w*/.exec(r.command)?.[0] ?? ''}`.includes(o))
      for (const word of (m[2] as string).split(' ')) {
        const source = common(word.replace(/["']/g, '').replace('osc-f*', 'osc-INSTANCE')).replace(/[.*]/g, (c) =>
          c === '.' ? '\\.' : '[^.]*',
        )
        listings.push(new RegExp(`^${source}${isDeep ? '(\\.|$)' : '$'}`))
      }
      for (const line of r.stdout.split('\n')) {
        if (line === '' || line.endsWith('/')) continue
        const name = common(line.replace(/[=@]$/, ''))
        real.set(name, isTyped ? line.endsWith('=') : real.get(name))
      }
    }
    const { lustre } = fixture(version)
    const wrong: string[] = []
    let compared = 0
    for (const p of lustre.parameters()) {
      const name = common(p.name)
      if (p.tree === 'module') continue
      // NIDs contain dots.
      if (!listings.some((pattern) => pattern.test(name.replace(/\d+\.\d+\.\d+\.\d+@/, 'NID@')))) continue
      compared++
      const mayWrite = real.get(name)
      if (!real.has(name)) wrong.push(`${name} is not there`)
      else if (mayWrite !== undefined && mayWrite !== ((modeOf(p) & 0o200) !== 0)) {
        wrong.push(`${name} may ${mayWrite ? '' : 'not '}be written`)
      }
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(100)
  })

  it('lie in the same trees, so that they are listed in the same order', () => {
    let listings = 0
    for (const r of records.filter(
      ({ id, command }) => id === 'node-list_param-all' || /list_param -RF /.test(command),
    )) {
      const { lustre } = fixture(r.lustre)
      const node = new EmulatedNode(new Simulation(), { name: 'testfs', roles: ['oss'], lustre })
      /** Files by directory, in order; directories take the position of their first file, which may be missing here. */
      const byDirectory = (text: string): Map<string, string[]> => {
        const files = new Map<string, string[]>()
        for (const name of text.split('\n').map(common)) {
          if (name === '' || name.endsWith('/') || name.startsWith('osd-')) continue
          const directory = name.slice(0, name.lastIndexOf('.') + 1)
          files.set(directory, [...(files.get(directory) ?? []), name])
        }
        return files
      }
      const real = byDirectory(r.stdout)
      let compared = 0
      for (const [directory, files] of byDirectory(node.exec(r.command).stdout)) {
        const known = real.get(directory) ?? []
        const both = (list: readonly string[], other: readonly string[]): string[] =>
          list.filter((n) => other.includes(n))
        expect(both(files, known), `${r.file} ${r.id}`).toEqual(both(known, files))
        compared += both(files, known).length
      }
      expect(compared, `${r.file} ${r.id}`).toBeGreaterThan(5)
      listings++
    }
    expect(listings).toBeGreaterThan(5)
  })

  it('number the lock pools of each side as real nodes do', () => {
    let pools = 0
    for (const r of records.filter(({ id }) => id === 'ldlm-pool-state')) {
      // The MDT may learn of its OSTs before or after the mount, at random.
      const heads = (text: string): string[] =>
        text.match(/^LDLM pool state .*$/gm)?.map((h) => common(h).replace(/(-[mo][ds]c-.*)-\d+\)/, '$1-N)')) ?? []
      const node = new EmulatedNode(new Simulation(), {
        name: 'testfs',
        roles: ['oss'],
        lustre: fixture(r.lustre).lustre,
      })
      const emulated = heads(node.exec(r.command).stdout)
      expect(emulated, r.file).toEqual(heads(r.stdout))
      pools += emulated.length
    }
    expect(pools).toBeGreaterThan(30)
  })

  it('have the devices of real nodes', () => {
    let lists = 0
    for (const r of records.filter(({ id }) => id === 'node-dl')) {
      const emulated = (fixture(r.lustre).lustre.devices?.() ?? []).map((d) =>
        common(`${d.status} ${d.type} ${d.name}`),
      )
      const real = parseDevices(r.stdout).devices.map((d) => common(`${d.status} ${d.type} ${d.name}`))
      // The MDT may learn of its OSTs before or after the mount, at random.
      const isFixed = (d: string): boolean => !d.startsWith('UP osp ')
      expect(emulated.filter(isFixed), r.file).toEqual(real.filter(isFixed))
      expect(new Set(emulated)).toEqual(new Set(real))
      lists++
    }
    expect(lists).toBe(3)
  })
})
