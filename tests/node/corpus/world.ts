/** The machine that the answers were recorded on: MGS, MDT, two OSTs and a client in one, file system `testfs`. */
import { EmulatedNode } from '#core/emulator/node.ts'
import { ROOT, type LustreSide } from '#core/emulator/lctl/host.ts'
import { MgsLog } from '#core/emulator/lctl/mgs-log.ts'
import type { ExecResult } from '#core/emulator/exec.ts'
import { makeTestfs, type Testfs } from '../testfs.ts'
import type { CorpusRecord } from './records.ts'

const EPOCH = 1_795_215_400

export class World {
  readonly testfs: Testfs
  readonly node: EmulatedNode
  #isLoaded = true
  #hasOsts = true

  constructor(first: CorpusRecord) {
    const osd = first.backend.includes('osd_zfs') ? 'zfs' : first.backend.includes('osd_wbcfs') ? 'wbcfs' : 'ldiskfs'
    this.testfs = makeTestfs({
      version: first.lustre,
      cpts: first.cpt ?? 1,
      osd,
      epochSeconds: EPOCH,
      hasLocks: true,
    })
    const { sim, lustre } = this.testfs
    const all = lustre.parameters()
    const withoutOsts = all.filter((p) => !p.name.startsWith('ost.') && !p.name.startsWith('obdfilter.'))
    const side: LustreSide = {
      ...lustre,
      parameters: () => (this.#hasOsts ? lustre.parameters() : withoutOsts),
      isLoaded: () => this.#isLoaded,
      paramsLog: new MgsLog(sim, () => [side]),
    }
    this.node = new EmulatedNode(sim, { name: 'lvm', role: 'oss', lustre: side })
  }

  exec(command: string): ExecResult {
    return this.node.exec(command)
  }

  /** What happened to the machine before a command, beyond what commands do. */
  enter(r: CorpusRecord): void {
    this.#isLoaded = !r.id.startsWith('nomod-')
    this.#hasOsts = !r.id.startsWith('noost-')
  }

  /** Runs a recorded command as its user; a `sleep` before it passes in virtual time. */
  run(r: CorpusRecord): ExecResult {
    const user = r.user === 'root' ? ROOT : { name: r.user, uid: Number(r.user.slice(1)) }
    const sleep = /^sleep (\d+); /.exec(r.command)
    const { sim } = this.testfs
    if (sleep) sim.runUntil(sim.now + Number(sleep[1]) * 1e9)
    return this.node.exec(r.command.slice(sleep?.[0].length ?? 0), user)
  }
}

export const makeWorld = (records: readonly CorpusRecord[]): World => new World(records[0] as CorpusRecord)
