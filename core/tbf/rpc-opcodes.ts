/**
 * RPC names, as used in `opcode={...}`, with their numbers.
 *
 * Source: spec/lustre 1.2 and the numbering of the wire protocol. Numbers of 128 and more are accepted by every release and
 * mishandled: the number is set as a bit in a map of some 95 RPCs.
 */

/** Opcode from which naming an RPC in a rule makes a server write outside its map of RPCs. */
export const UNSAFE_OPCODE = 128

/** Names by number; servers still accept names of obsolete RPCs. */
const RANGES: readonly (readonly [first: number, names: string])[] = [
  [
    0,
    'ost_reply ost_getattr ost_setattr ost_read ost_write ost_create ost_destroy ost_get_info ost_connect ost_disconnect ' +
      'ost_punch ost_open ost_close ost_statfs',
  ],
  [16, 'ost_sync ost_set_info ost_quotacheck ost_quotactl ost_quota_adjust_qunit ost_ladvise ost_fallocate ost_seek'],
  [
    33,
    'mds_getattr mds_getattr_lock mds_close mds_reint mds_readpage mds_connect mds_disconnect mds_get_root mds_statfs ' +
      'mds_pin mds_unpin mds_sync mds_done_writing mds_set_info mds_quotacheck mds_quotactl mds_getxattr mds_setxattr ' +
      'mds_writepage mds_is_subdir mds_get_info mds_hsm_state_get mds_hsm_state_set mds_hsm_action mds_hsm_progress ' +
      'mds_hsm_request mds_hsm_ct_register mds_hsm_ct_unregister mds_swap_layouts mds_rmfid mds_batch mds_hsm_data_version',
  ],
  [101, 'ldlm_enqueue ldlm_convert ldlm_cancel ldlm_bl_callback ldlm_cp_callback ldlm_gl_callback ldlm_set_info'],
  [250, 'mgs_connect mgs_disconnect mgs_exception mgs_target_reg mgs_target_del mgs_set_info mgs_config_read'],
  [400, 'obd_ping llog_cancel obd_quota_callback dt_index_read'],
  [
    501,
    'llog_origin_handle_open llog_origin_handle_next_block llog_origin_handle_read_header llog_origin_handle_write_rec ' +
      'llog_origin_handle_close llog_origin_connect llog_catinfo llog_origin_handle_prev_block llog_origin_handle_destroy',
  ],
  [601, 'quota_acquire quota_release'],
  [700, 'seq_query'],
  [801, 'sec_ctx_init sec_ctx_init_cont sec_ctx_fini'],
  [900, 'fld_query fld_read'],
  [1000, 'out_update'],
  [1101, 'lfsck_notify lfsck_query'],
]

/** Number of every RPC by its name. */
export const RPC_OPCODES: ReadonlyMap<string, number> = new Map(
  RANGES.flatMap(([first, names]) => names.split(' ').map((name, i) => [name, first + i] as const)),
)
