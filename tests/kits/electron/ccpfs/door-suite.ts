/** Suite of the POSIX door against any daemon that speaks its protocol: programs, and random calls beside a real folder. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  doorTrial,
  hasProgram,
  MOUNT,
  noDoor,
  runProgram,
  shortFolder,
  type DaemonKind,
  type DoorDaemon,
  type Ended,
  type Running,
} from './door-kit.ts'

const NAMES = ['a', 'b', 'd/c', 'd', 'a/x']
const O = { CREAT: 0o100, EXCL: 0o200, TRUNC: 0o1000, APPEND: 0o2000 }

const slot = fc.integer({ min: 0, max: 3 })
const seed = fc.integer({ min: 0, max: 1e6 })
const name = fc.constantFrom(...NAMES)
const offset = fc.oneof(fc.integer({ min: -1, max: 20_000 }), fc.integer({ min: 0, max: 3_000_000 }))
const bytes = fc.oneof(fc.integer({ min: 1, max: 9000 }), fc.integer({ min: 1_000_000, max: 2_200_000 }))
const openFlags = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.subarray([O.CREAT, O.EXCL, O.TRUNC, O.APPEND]))
  .map(([access, more]) => more.reduce((sum, flag) => sum | flag, access))
  // Truncation of a file that is opened for reading, and O_EXCL without O_CREAT, are undefined.
  .filter((flags) => ((flags & 3) !== 0 || !(flags & O.TRUNC)) && (!(flags & O.EXCL) || (flags & O.CREAT) !== 0))

const line = (word: string, ...parts: fc.Arbitrary<unknown>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((values) => [word, ...values.map(String)].join(' '))

const fileCalls = [
  line('open', slot, name, openFlags, fc.constantFrom(0o644, 0o600)),
  line('close', slot),
  line('dup', slot, slot),
  line('read', slot, bytes),
  line('readv', slot, bytes),
  line('pread', slot, bytes, offset),
  line('preadv', slot, bytes, offset),
  line('write', slot, bytes, seed),
  line('writev', slot, bytes, seed),
  line('pwrite', slot, bytes, offset, seed),
  line('pwritev', slot, bytes, offset, seed),
  line('lseek', slot, offset, fc.integer({ min: 0, max: 2 })),
  line('ftruncate', slot, offset),
  line('truncate', name, offset),
  line('fsync', slot),
  line('append', slot, fc.integer({ min: 0, max: 1 })),
  line('flags', slot),
  line('fstat', slot),
  line('stat', name),
  line('access', name),
  line('badread', slot, fc.integer({ min: 1, max: 5000 })),
  line('stream', name, fc.constantFrom('r', 'r+', 'w', 'w+', 'a', 'a+', 'wx'), fc.integer({ min: 1, max: 9000 }), seed),
]
const nameCalls = [
  line('unlink', name),
  line('rename', name, name),
  line('mkdir', name),
  line('rmdir', name),
  line('list', fc.constantFrom('.', 'd', 'a')),
]
/** A file that is removed while it is open cannot be opened again in another process: no names change there. */
const processCalls = [fc.constant('fork'), fc.constant('exec')]

/** Two files are open from the start, so that most calls do something. */
const START = ['mkdir d', 'open 0 a 66 420', 'open 1 d/c 66 420', 'write 0 5000 7'].join('\n')
const script = (calls: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.array(fc.oneof(...calls), { minLength: 20, maxLength: 80 }).map((lines) => `${START}\n${lines.join('\n')}\n`)

/** Commands of a shell, with $D the folder: standard output and exit code must be those of a real folder. */
const SAME: Record<string, string> = {
  dd: 'dd if=$R/data of=$D/f bs=37k 2>/dev/null && dd if=$D/f bs=5k skip=3 count=7 2>/dev/null | sha256sum',
  'dd, conv=notrunc,fsync and append':
    'dd if=$R/data of=$D/f bs=64k 2>/dev/null; dd if=$R/data of=$D/f bs=1k count=3 seek=9 conv=notrunc,fsync 2>/dev/null; dd if=$R/data of=$D/f bs=1k count=2 oflag=append conv=notrunc 2>/dev/null; sha256sum < $D/f',
  cp: 'cp $R/data $D/f && cp $D/f $D/g && cp $D/g $R/back.$$ && cmp $R/data $R/back.$$ && cmp $D/f $D/g && echo same',
  'cp -r': 'mkdir $D/t $D/t/u; echo 1 > $D/t/x; echo 2 > $D/t/u/y; cp -r $D/t $D/v && cat $D/v/x $D/v/u/y',
  cmp: 'cp $R/data $D/f; printf x | dd of=$D/f bs=1 seek=1234 conv=notrunc 2>/dev/null; cmp $R/data $D/f | sed s,$D,D,',
  sha256sum:
    'cp $R/data $D/f; sha256sum $D/f $R/data | cut -c1-64; (cd /; sha256sum $D/f > $D/sums; sha256sum -c $D/sums | sed s,.*:,,)',
  'cat, head, tail and wc':
    'seq 5000 > $D/f; cat $D/f | wc -l; head -n 3 $D/f; tail -n 2 $D/f; tail -c 7 $D/f; wc -c < $D/f; tac $D/f | head -1',
  truncate: 'echo abc > $D/f; truncate -s 100000 $D/f; wc -c < $D/f; truncate -s 2 $D/f; cat $D/f',
  stat: 'umask 027; echo abc > $D/f; stat -c "%s %A %F %h" $D/f; [ -s $D/f ] && [ -d $D ] && ! [ -e $D/none ] && echo tests',
  'redirections of a shell':
    'echo one > $D/f; echo two >> $D/f; (echo three; cat $D/f; seq 3) > $D/g; while read l; do echo "<$l>"; done < $D/g; cat $D/f - < $D/g > $D/h; cat $D/h',
  'descriptors of a shell':
    'exec 5> $D/f; echo a >&5; seq 2 >&5; sh -c "echo b >&5"; exec 5>&-; cat $D/f; exec 6< $D/f; read x <&6; echo $x; cat <&6',
  'descriptors where the connection is':
    'echo x > $D/f; exec 900>&-; exec 900> $D/g; echo a >&900; exec 901< $D/f; cat <&901; exec 900>&- 901>&-; cat $D/g; (ulimit -n 30; cat $D/f)',
  'here documents and /dev/stdin': 'echo in > $D/f; cat /dev/stdin < $D/f; echo out | tee $D/g; cat < $D/g',
  'ls, find and globs':
    'mkdir $D/s; touch $D/none 2>/dev/null; rm -f $D/none; echo > $D/x1; echo > $D/x2; ls $D; ls -d $D/x* | sed s,$D,D,; find $D -type f | sed s,$D,D, | sort',
  'mv and rm':
    'echo 1 > $D/f; mv $D/f $D/g; cat $D/g; mkdir $D/s; mv $D/g $D/s; ls $D/s; rm -r $D/s; ls $D; rm $D/none 2>/dev/null || echo missing',
  'sort, sed, grep and diff':
    'seq 3000 > $D/f; sort -rn $D/f > $D/g; head -1 $D/g; sed -i s/1/x/ $D/f; head -1 $D/f; grep -c 9 $D/f; diff $D/f $D/g | wc -l',
  tar: 'mkdir $D/t; seq 100 > $D/t/f; tar -cf $D/x.tar -C $D t && tar -tf $D/x.tar && tar -xOf $D/x.tar t/f | sha256sum',
  'paths with dots':
    'echo x > $D/f; cat $D/./f $D/../${D##*/}//f; realpath $D/../${D##*/}/f | sed s,$D,D,; [ "$(readlink -f $D/f)" = $D/f ] && echo same',
  errors:
    'cat $D/none 2>&1 | sed s,$D,D,; echo x > $D/f; cat $D/f/g 2>&1 | sed s,$D,D,; cat $D 2>&1 | sed s,$D,D,; mkdir $D/f 2>&1 | sed s,$D,D,; rmdir $D/none 2>&1 | sed s,$D,D,',
}

/** Programs that are refused: the message, and that it is not a success. */
const REFUSED: readonly [title: string, script: string, message: RegExp][] = [
  ['direct I/O', 'dd if=$R/data of=$D/f bs=4k oflag=direct', /Invalid argument/],
  ['setting of times', 'touch $D/f', /setting times of .*Operation not supported/],
  ['symbolic links', 'ln -s f $D/l', /Operation not permitted/],
  ['hard links', 'echo > $D/f; ln $D/f $D/l', /Operation not permitted/],
  ['another mode', 'echo > $D/f; chmod 4711 $D/f', /Operation not supported/],
  ['a working directory below the mount', 'cd $D', /sluice-ccpfs: the working directory cannot be below the mount/],
  ['flock', 'exec 9> $D/f; flock -n 9', /sluice-ccpfs: file locks are refused \(ENOLCK\)/],
  ['allocation', 'fallocate -l 100 $D/f', /Operation not supported/],
]

export function doorSuite(kind: DaemonKind): void {
  describe.skipIf(noDoor !== '')(`door: ${kind.name}`, () => {
    const trial = doorTrial()
    let folder: string
    let daemon: DoorDaemon
    let cases = 0

    beforeAll(async () => {
      folder = shortFolder()
      daemon = await kind.start(folder)
      writeFileSync(join(folder, 'data'), Buffer.from(Array.from({ length: 1_500_000 }, (_, i) => (i * i) >> 5)))
    })
    afterAll(() => daemon.close())

    const under = (command: string, args: readonly string[], more: Running = {}): Promise<Ended> =>
      runProgram(daemon.socket, command, args, more)

    /** An empty folder in the mount, and one beside it in a real file system. */
    async function places(): Promise<{ ccpfs: string; real: string }> {
      const one = `case-${process.pid}-${++cases}`
      const real = join(folder, one)
      mkdirSync(real)
      const ccpfs = `${MOUNT}/${one}`
      expect(await under('mkdir', [ccpfs])).toMatchObject({ code: 0, stderr: '' })
      return { ccpfs, real }
    }

    const shell = (socket: string | undefined, text: string, at: string, more: Running = {}): Promise<Ended> =>
      runProgram(socket, 'bash', ['-c', text], { ...more, env: { D: at, R: folder } })

    describe('programs as on a real folder', () => {
      it.each(Object.entries(SAME))('%s', async (_, text) => {
        const { ccpfs, real } = await places()
        const wanted = await shell(undefined, text, real)
        const got = await shell(daemon.socket, text, ccpfs)
        expect(wanted.stdout).not.toBe('')
        expect({ code: got.code, stdout: got.stdout }).toEqual({ code: wanted.code, stdout: wanted.stdout })
      })

      it('dash, whose commands run after vfork', async () => {
        const { ccpfs } = await places()
        const text = `echo a > ${ccpfs}/f; cat ${ccpfs}/f > ${ccpfs}/g; seq 2 >> ${ccpfs}/g; cat < ${ccpfs}/g`
        expect(await under('sh', ['-c', text])).toEqual({ code: 0, stdout: 'a\n1\n2\n', stderr: '' })
      })

      it.skipIf(!hasProgram('sqlite3'))('sqlite3, with locks of this node', async () => {
        const { ccpfs } = await places()
        const file = `${ccpfs}/x.db`
        const sql =
          'create table t(a); insert into t select value from generate_series(1, 5000); select sum(a) from t; pragma integrity_check;'
        expect(await under('sqlite3', [file, sql], { locks: 'local' })).toEqual({
          code: 0,
          stdout: '12502500\nok\n',
          stderr: '',
        })
        const add = Array.from({ length: 20 }, () => 'insert into t values (1);').join('')
        const adding = [1, 2, 3].map(() => under('sqlite3', ['-cmd', '.timeout 60000', file, add], { locks: 'local' }))
        for (const one of await Promise.all(adding)) expect(one).toMatchObject({ code: 0, stderr: '' })
        const count = await under('sqlite3', [file, 'select count(*) from t; pragma integrity_check'], {
          locks: 'local',
        })
        expect(count).toEqual({ code: 0, stdout: '5060\nok\n', stderr: '' })
        const dotfile = await under('sqlite3', [
          '-cmd',
          '.timeout 60000',
          '-vfs',
          'unix-dotfile',
          file,
          'select count(*) from t',
        ])
        expect(dotfile).toEqual({ code: 0, stdout: '5060\n', stderr: '' })
      })

      it.skipIf(!hasProgram('fio')).each(['sync', 'psync', 'vsync', 'pvsync', 'pvsync2'])(
        'fio with %s: threads and processes, contents verified',
        async (engine) => {
          const { ccpfs } = await places()
          for (const parallel of ['--thread', '--group_reporting']) {
            const args = [
              `--directory=${ccpfs}`,
              `--ioengine=${engine}`,
              '--rw=randrw',
              '--bs=1k-64k',
              '--size=1m',
              '--numjobs=4',
            ]
            const more = ['--name=j', '--verify=crc32c', '--do_verify=1', '--fallocate=none', '--minimal', parallel]
            expect(await under('fio', [...args, ...more], { cwd: folder })).toMatchObject({ code: 0, stderr: '' })
          }
        },
      )

      it.skipIf(!hasProgram('python3'))('python3: files, threads, temporary files and children', async () => {
        const { ccpfs } = await places()
        const at = join(import.meta.dirname, 'door-trial.py')
        expect(await under('python3', [at, ccpfs])).toEqual({ code: 0, stdout: 'done\n', stderr: '' })
      })
    })

    describe('programs that are refused', () => {
      it.each(REFUSED)('%s', async (_, text, message) => {
        const { ccpfs } = await places()
        const got = await shell(daemon.socket, text, ccpfs)
        expect(got.stderr).toMatch(message)
        expect(got.code).not.toBe(0)
      })

      it('mmap, with one message per process', async () => {
        const { ccpfs } = await places()
        const got = await under(trial, [ccpfs], { stdin: 'open 0 f 66 420\nwrite 0 5000 1\nmap 0\nmap 0\nread 0 1\n' })
        expect(got).toMatchObject({ code: 0, stdout: 'open 0\nwrite 5000\nmap ENODEV\nmap ENODEV\nread 0 811c9dc5\n' })
        expect(got.stderr.match(/mmap is refused/g)).toHaveLength(1)
      })

      it('a removed file in a program that inherited it', async () => {
        const { ccpfs } = await places()
        const got = await under(trial, [ccpfs], {
          stdin: 'open 0 f 66 420\nwrite 0 9 1\nunlink f\nread 0 1\nexec\nread 0 1\n',
        })
        expect(got.stdout.split('\n').slice(-2)).toEqual(['read ESTALE', ''])
        expect(got.stderr).toMatch(/an inherited file cannot be opened again \(ESTALE\)/)
      })

      it.skipIf(!hasProgram('sqlite3'))('sqlite3 without locks, and its WAL', async () => {
        const { ccpfs } = await places()
        const none = await under('sqlite3', [`${ccpfs}/x.db`, 'create table t(a)'])
        expect(none.code).not.toBe(0)
        expect(none.stderr).toMatch(/file locks are refused \(ENOLCK\).*SLUICE_CCPFS_LOCKS=local/)
        const wal = await under('sqlite3', [`${ccpfs}/y.db`, 'pragma journal_mode=wal; create table t(a)'], {
          locks: 'local',
        })
        expect(wal.code).not.toBe(0)
        expect(wal.stderr).toMatch(/mmap is refused \(ENODEV\)/)
      })

      it.skipIf(!hasProgram('fio')).each(['libaio', 'posixaio', 'mmap'])('fio with %s', async (engine) => {
        const { ccpfs } = await places()
        const args = [
          `--directory=${ccpfs}`,
          `--ioengine=${engine}`,
          '--rw=write',
          '--size=64k',
          '--name=j',
          '--fallocate=none',
        ]
        const got = await under('fio', args, { cwd: folder })
        expect(got.code).not.toBe(0)
        expect(got.stderr + got.stdout).toMatch(engine === 'mmap' ? /No such device/ : /Bad file descriptor/)
      })
    })

    describe('random calls have the results and the bytes of a real folder', () => {
      const compare = (calls: fc.Arbitrary<string>[], numRuns: number): Promise<void> =>
        fc.assert(
          fc.asyncProperty(script(calls), async (stdin) => {
            const { ccpfs, real } = await places()
            const wanted = await runProgram(undefined, trial, [real], { stdin })
            const got = await under(trial, [ccpfs], { stdin })
            expect(got).toEqual(wanted)
          }),
          { numRuns },
        )

      it('on files and names', () => compare([...fileCalls, ...fileCalls, ...nameCalls], 60))
      it('in children and after exec', () => compare([...fileCalls, ...processCalls], 40))
    })

    it('a buffer that cannot be read writes nothing, and later calls are unaffected', async () => {
      // Not among the random calls: some file systems of Linux extend the file although they write nothing.
      const { ccpfs, real } = await places()
      const stdin =
        'open 0 f 66 420\nwrite 0 10 1\nbadwrite 0 1\nbadwrite 0 4096\nbadread 0 5\nwrite 0 10 2\npread 0 99 0\n'
      expect(await under(trial, [ccpfs], { stdin })).toEqual(await runProgram(undefined, trial, [real], { stdin }))
    })

    it('appends of several processes do not overwrite each other', async () => {
      const { ccpfs } = await places()
      const text =
        'for p in 1 2 3 4; do (for i in $(seq 100); do echo "$p $i" >> $D/f; done) & done; wait; sort $D/f | uniq | wc -l'
      expect(await shell(daemon.socket, text, ccpfs)).toEqual({ code: 0, stdout: '400\n', stderr: '' })
    })
  })
}
