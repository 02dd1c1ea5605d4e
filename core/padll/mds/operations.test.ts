import { describe, expect, it } from 'vitest'
import { METADATA_RPCS, type MetadataOperation } from '../../emulator/operations.ts'
import { RPC_OPCODES, UNSAFE_OPCODE } from '../../tbf/rpc-opcodes.ts'
import { isScope, OPERATION_CONTEXTS, OPERATION_TYPES } from '../vocabulary.ts'
import { countOfScope, sharedOperations, MDS_RPCS, MDS_SCOPES, rpcOf } from './operations.ts'

const counts = (of: Record<string, number>): ReadonlyMap<string, number> => new Map(Object.entries(of))

describe('operations on a metadata server', () => {
  it('travel as the emulated servers, which play the measured ones, take them', () => {
    for (const [op, { service, opcode }] of Object.entries(METADATA_RPCS)) {
      const rpc = rpcOf(opcode)
      expect(rpc?.service, op).toBe(service === 'mdt' ? 'mdt' : 'mdt_readpage')
      expect(rpc?.carries, op).toContain(op)
    }
  })

  it('are counted as often as RPCs are sent, whatever the operation moves', () => {
    for (const op of Object.keys(METADATA_RPCS) as MetadataOperation[]) {
      const moved = Object.fromEntries(METADATA_RPCS[op].counters.map((name) => [name, 7]))
      expect(countOfScope(counts(moved), 'meta_op'), op).toBe(7)
    }
    const mixed = counts({ open: 10, mknod: 4, rename: 3, samedir_rename: 3, parallel_rename_file: 2, close: 10 })
    expect(countOfScope(mixed, 'meta_op')).toBe(23)
    // Special files are created without an open.
    expect(countOfScope(counts({ open: 2, mknod: 5 }), 'mknod')).toBe(3)
    expect(countOfScope(counts({ read: 9, write_bytes: 9, open: 1 }), 'meta_op')).toBe(1)
  })

  it('have names that every release takes and no server mishandles', () => {
    for (const { opcode } of MDS_RPCS) expect(RPC_OPCODES.get(opcode)).toBeLessThan(UNSAFE_OPCODE)
  })

  it('every scope of a policy is limited, or has the reason why not', () => {
    const words = [...Object.keys(OPERATION_TYPES), ...Object.keys(OPERATION_CONTEXTS)].filter(isScope)
    for (const scope of words) {
      const { opcodes, not } = MDS_SCOPES[scope]
      expect(opcodes.length > 0 || not !== '', scope).toBe(true)
      for (const o of opcodes) expect(rpcOf(o), scope).toBeDefined()
    }
    expect(Object.keys(MDS_SCOPES).sort()).toEqual([...words].sort())
  })

  it('an open is held with stat, mkdir with all that mds_reint carries, close alone', () => {
    expect(sharedOperations('open')).toEqual(['stat'])
    expect(sharedOperations('close')).toEqual([])
    expect(sharedOperations('mkdir')).toEqual(
      expect.arrayContaining(['rename', 'unlink', 'setattr', 'setxattr', 'rmdir', 'mknod', 'link']),
    )
    expect(sharedOperations('meta_op')).toEqual([])
  })
})
