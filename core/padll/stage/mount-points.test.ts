import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MountPoints, normalPath, resolvedPath, UNMANAGED } from './mount-points.ts'

const mounts = (paths: string[], substring = false): MountPoints => {
  const made = MountPoints.of(paths, substring)
  if (!made.ok) throw new Error(made.error.what)
  return made.value
}

const part = fc.constantFrom('a', 'b', 'lustre', 'lustre2', '.', '..', '', '...', '.x', 'x.')
const path = fc.array(part, { maxLength: 8 }).map((parts) => parts.join('/'))
const absolute = path.map((p) => `/${p}`)

describe('paths', () => {
  it('are normalized as the reference does it', () => {
    fc.assert(
      fc.property(absolute, (p) => {
        const reference = posix.normalize(p).replace(/^\/+/, '/')
        expect(normalPath(p)).toBe(reference.length > 1 ? reference.replace(/\/$/, '') : '/')
      }),
    )
  })

  it('are resolved from a directory as the reference does it', () => {
    fc.assert(
      fc.property(absolute, path, (from, p) => {
        expect(resolvedPath(p, normalPath(from))).toBe(posix.resolve(normalPath(from), p).replace(/^\/+/, '/'))
      }),
    )
  })
})

describe('MountPoints', () => {
  it('finds the longest mount point by whole components, at first and when it remembers', () => {
    fc.assert(
      fc.property(fc.uniqueArray(absolute, { maxLength: 5, selector: normalPath }), absolute, (paths, p) => {
        const points = mounts(paths)
        const parts = (of: string): string[] =>
          normalPath(of)
            .split('/')
            .filter((x) => x !== '')
        const under = paths
          .map((mount, index) => ({ index, parts: parts(mount) }))
          .filter((m) => m.parts.every((x, i) => parts(p)[i] === x))
          .sort((a, b) => b.parts.length - a.parts.length)
        const expected = under[0]?.index ?? UNMANAGED
        expect([points.mountOf(p, '/'), points.mountOf(p, '/')]).toEqual([expected, expected])
      }),
    )
  })

  it('still answers correctly after far more paths than it keeps', () => {
    const points = mounts(['/scratch'])
    for (let i = 0; i < 40_000; i++) points.mountOf(`/${i % 2 === 0 ? 'scratch' : 'home'}/${i}`, '/')
    let wrong = 0
    for (let i = 0; i < 40_000; i++) {
      if (points.mountOf(`/${i % 2 === 0 ? 'scratch' : 'home'}/${i}`, '/') !== (i % 2 === 0 ? 0 : UNMANAGED)) wrong++
    }
    expect(wrong).toBe(0)
  })

  it('refuses what is no mount point', () => {
    for (const bad of [['scratch'], [''], ['/a', '/a/'], ['/a/../b', '/b'], [`/${'x'.repeat(5000)}`], ['/a\0b']]) {
      expect(MountPoints.of(bad)).toMatchObject({ ok: false, error: { code: 'E_MOUNT' } })
    }
    expect(MountPoints.of(Array.from({ length: 257 }, (_, i) => `/${i}`)).ok).toBe(false)
  })
})

describe('exploits', () => {
  it('a name that contains the mount point is not under it', () => {
    const points = mounts(['/scratch'])
    for (const p of ['/home/scratchfile', '/home/scratch', '/scratch2/x', '/scratchfile', '/home/x/scratch/y']) {
      expect([p, points.mountOf(p, '/')]).toEqual([p, UNMANAGED])
    }
    // As upstream, if requested.
    expect(mounts(['/scratch'], true).mountOf('/home/scratchfile', '/')).toBe(0)
    expect(mounts(['/scratch'], true).mountOf('scratchfile', '/')).toBe(UNMANAGED)
  })

  it('no spelling of a path gets out of the mount point or into it', () => {
    const points = mounts(['/scratch'])
    for (const p of [
      '/home/../scratch/x',
      '//scratch//x',
      '/./scratch/./x',
      '/scratch/a/../x',
      '/../scratch',
      '/scratch/',
    ]) {
      expect([p, points.mountOf(p, '/home')]).toEqual([p, 0])
    }
    for (const p of ['/scratch/../home/x', '/scratch/..', '/scratch/a/../../etc/passwd']) {
      expect([p, points.mountOf(p, '/scratch')]).toEqual([p, UNMANAGED])
    }
    expect(points.mountOf('../scratch/x', '/home')).toBe(0)
    expect(points.mountOf('../../home/x', '/scratch/a')).toBe(UNMANAGED)
    expect(points.mountOf('x', '/scratch/a')).toBe(0)
  })

  it('a path longer than the kernel accepts is unmanaged, and costs nothing', () => {
    const points = mounts(['/scratch'])
    expect(points.mountOf(`/scratch/${'../'.repeat(2_000_000)}`, '/')).toBe(UNMANAGED)
    expect(points.mountOf('/scratch/a\0b', '/')).toBe(UNMANAGED)
  })
})
