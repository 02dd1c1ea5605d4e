import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MountPoints, UNMANAGED } from './mount-points.ts'
import { AT_FDCWD, FD_LIMIT, PATHS_MOST, ProcessFiles, UNKNOWN } from './process-files.ts'

const made = MountPoints.of(['/scratch', '/scratch/fast'])
if (!made.ok) throw new Error('two good mount points')
const mounts = made.value

const fds = fc.oneof(fc.nat(12), fc.constantFrom(4095, 4096, 8191, 70_000))

describe('ProcessFiles', () => {
  it('knows what a model knows, whatever is opened, copied, closed and forked', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('open' as const), fd: fds, mount: fc.integer({ min: -1, max: 1 }) }),
      fc.record({ kind: fc.constant('dup' as const), fd: fds, copy: fds }),
      fc.record({ kind: fc.constant('close' as const), fd: fds }),
      fc.record({ kind: fc.constant('range' as const), fd: fds, last: fds }),
      fc.record({
        kind: fc.constant('fopen' as const),
        file: fc.nat(5),
        fd: fds,
        mount: fc.integer({ min: -1, max: 1 }),
      }),
      fc.record({ kind: fc.constant('fclose' as const), file: fc.nat(5) }),
      fc.record({ kind: fc.constant('fork' as const) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let files = new ProcessFiles()
        const model = new Map<number, number>()
        const handles = new Map<number, number>()
        const parents: [ProcessFiles, Map<number, number>][] = []
        for (const s of steps) {
          if (s.kind === 'open') {
            files.opened(s.fd, '/x', undefined, s.mount)
            model.set(s.fd, s.mount)
          } else if (s.kind === 'dup') {
            files.duplicated(s.fd, s.copy)
            const mount = model.get(s.fd)
            if (s.fd !== s.copy && mount === undefined) model.delete(s.copy)
            else if (mount !== undefined) model.set(s.copy, mount)
          } else if (s.kind === 'close') {
            files.closed(s.fd)
            model.delete(s.fd)
          } else if (s.kind === 'range') {
            files.closedRange(s.fd, s.last)
            for (const fd of [...model.keys()]) if (fd >= s.fd && fd <= s.last) model.delete(fd)
          } else if (s.kind === 'fopen') {
            files.openedFile(s.file, s.fd, '/x', s.mount)
            model.set(s.fd, s.mount)
            handles.set(s.file, s.fd)
          } else if (s.kind === 'fclose') {
            files.closedFile(s.file)
            model.delete(handles.get(s.file) ?? -1)
            handles.delete(s.file)
          } else {
            parents.push([files, new Map(model)])
            files = files.fork()
          }
        }
        for (const [of, known] of [...parents, [files, model] as const]) {
          expect(of.size).toBe(known.size)
          for (const fd of [...Array(13).keys(), 4095, 4096, 8191, 70_000]) {
            expect([fd, of.mountOfFd(fd)]).toEqual([fd, known.get(fd) ?? UNKNOWN])
          }
        }
        expect(files.handles).toBe(handles.size)
        files.closedRange(0, Infinity)
        expect(files.size).toBe(0)
      }),
    )
  })

  it('resolves relative paths from the working directory, a directory descriptor, or the descriptor itself', () => {
    const files = new ProcessFiles('/home/ana')
    expect(files.mountOfPath('x', undefined, mounts)).toBe(UNMANAGED)
    expect(files.mountOfPath('../../scratch/x', AT_FDCWD, mounts)).toBe(0)
    files.chdir('/scratch')
    expect(files.mountOfPath('fast/x', undefined, mounts)).toBe(1)
    files.opened(5, '/', undefined, UNMANAGED)
    expect(files.mountOfPath('scratch/fast', 5, mounts)).toBe(1)
    files.opened(6, 'fast', undefined, 1)
    expect(files.mountOfPath('', 6, mounts)).toBe(1)
    expect(files.mountOfPath('../..', 6, mounts)).toBe(UNMANAGED)
    files.fchdir(6)
    expect(files.cwd).toBe('/scratch/fast')
    expect(files.mountOfPath('x', 7, mounts)).toBe(UNMANAGED)
    expect(files.mountOfPath('/scratch/x', 7, mounts)).toBe(0)
    expect(files.fork().mountOfPath('x', undefined, mounts)).toBe(1)
  })
})

describe('exploits', () => {
  it('a number that is no descriptor is never managed and never kept', () => {
    const files = new ProcessFiles()
    for (const fd of [-1, FD_LIMIT, 2 ** 32 + 3, 1.5, NaN, Infinity]) {
      files.opened(fd, '/scratch/x', undefined, 0)
      files.duplicated(3, fd)
      expect([fd, files.mountOfFd(fd)]).toEqual([fd, UNKNOWN])
      files.closed(fd)
      files.closedRange(fd, fd)
    }
    expect(files.size).toBe(0)
  })

  it('a closed number that is given again for a file outside is not managed', () => {
    const files = new ProcessFiles()
    files.opened(3, '/scratch/x', undefined, 0)
    files.closed(3)
    expect(files.mountOfFd(3)).toBe(UNKNOWN)
    files.opened(3, '/home/x', undefined, UNMANAGED)
    expect(files.mountOfFd(3)).toBe(UNMANAGED)
  })

  it('a directory’s number does not stand for it once it is closed, or given to something without a path', () => {
    const files = new ProcessFiles()
    files.opened(3, '/scratch', undefined, 0)
    expect(files.mountOfPath('x', 3, mounts)).toBe(0)
    files.closed(3)
    expect(files.mountOfPath('x', 3, mounts)).toBe(UNMANAGED)
    files.opened(3, '/scratch', undefined, 0)
    files.opened(3, undefined, undefined, UNMANAGED)
    expect(files.mountOfPath('x', 3, mounts)).toBe(UNMANAGED)
  })

  it('a million descriptors are known, three million do not take more', () => {
    const files = new ProcessFiles()
    for (let fd = 0; fd < 3_000_000; fd++) files.opened(fd, `/scratch/${fd & 7}`, undefined, 0)
    expect(files.size).toBe(FD_LIMIT)
    expect(files.mountOfFd(FD_LIMIT - 1)).toBe(0)
    // Beyond the kept paths a directory's mount point still applies to the paths below it.
    expect(files.mountOfPath('x', PATHS_MOST + 1, mounts)).toBe(0)
    for (let file = 0; file < 200_000; file++) files.openedFile(file, undefined, undefined, 0)
    expect(files.handles).toBeLessThan(100_000)
    files.closedRange(0, Infinity)
    expect(files.size).toBe(0)
  })
})
