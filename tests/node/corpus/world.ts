/** The machine that the answers were recorded on: MGS, MDT, two OSTs and a client in one, file system `testfs`. */
import { EmulatedNode } from '#core/emulator/node.ts'
import { ROOT, type LustreSide, type NodeUser, type ObdDevice } from '#core/emulator/lctl/host.ts'
import { MgsLog } from '#core/emulator/lctl/mgs-log.ts'
import type { ExecResult } from '#core/emulator/exec.ts'
import type { EmulatedOst } from '#core/emulator/oss.ts'
import type { Rpc } from '#core/emulator/rpc.ts'
import { makeTestfs, type Testfs } from '../testfs.ts'
import { goOn } from './load.ts'
import type { CorpusRecord } from './records.ts'
import { GO_ON } from './scenes.ts'

const EPOCH = 1_795_215_400

/** Devices that go when a server's last OST is unmounted. */
const isOfOsts = ({ type, name }: ObdDevice): boolean =>
  type === 'ost' || type === 'obdfilter' || /^testfs-OST\d{4}-osd$|-lwp-OST\d{4}$/.test(name)

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
      devices: () => (lustre.devices?.() ?? []).filter((d) => this.#hasOsts || !isOfOsts(d)),
      isLoaded: () => this.#isLoaded,
      paramsLog: new MgsLog(sim, () => [side]),
    }
    this.node = new EmulatedNode(sim, { name: 'lvm', roles: ['oss'], lustre: side })
  }

  /** Runs a step whose answer was not recorded, before a recorded command. */
  step(step: string, next: CorpusRecord): void {
    const rpcs = /^queue (\d+)$/.exec(step)?.[1]
    if (rpcs !== undefined) for (let i = 0; i < Number(rpcs); i++) this.#arrive()
    else if (step === GO_ON) goOn(this.testfs, next.command, next.stdout)
    else this.#line(step, ROOT)
  }

  /** One 4 KiB write of the job ga.0 comes to ost_io. */
  #arrive(): void {
    const { oss } = this.testfs
    const to = oss.osts[0] as EmulatedOst
    const rpc: Rpc = {
      op: 'write',
      opcode: 'ost_write',
      bytes: 4096,
      offset: 0,
      to,
      sender: 0,
      jobId: 'ga.0',
      nid: '0@lo',
      done: () => undefined,
    }
    to.receive(rpc, 0, () => undefined)
  }

  /** A command line; a `sleep` in it passes in virtual time, which no command of a node does. */
  #line(line: string, user: NodeUser): ExecResult {
    const { sim } = this.testfs
    let all: ExecResult = { stdout: '', stderr: '', code: 0 }
    for (const part of line.split(/(?:^|; )(?=sleep \d)/)) {
      const sleep = /^sleep (\d+)(?:; )?/.exec(part)
      if (sleep) sim.runUntil(sim.now + Number(sleep[1]) * 1e9 + 1e6)
      const command = part.slice(sleep?.[0].length ?? 0)
      if (command === '') continue
      const r = this.node.exec(command, user)
      all = { stdout: all.stdout + r.stdout, stderr: all.stderr + r.stderr, code: r.code }
    }
    return all
  }

  /** Applies the events of the machine before a command that no command causes. */
  enter(r: CorpusRecord): void {
    this.#isLoaded = !r.id.startsWith('nomod-')
    this.#hasOsts = !r.id.startsWith('noost-')
  }

  /** Runs a recorded command as its user. */
  run(r: CorpusRecord): ExecResult {
    return this.#line(r.command, r.user === 'root' ? ROOT : { name: r.user, uid: Number(r.user.slice(1)) })
  }
}

export const makeWorld = (records: readonly CorpusRecord[]): World => new World(records[0] as CorpusRecord)
