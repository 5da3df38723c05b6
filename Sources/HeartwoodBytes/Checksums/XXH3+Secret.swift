extension XXH3 {
  /// A word of the 192-byte secret that the definition of XXH3 prescribes, by its index from 0 to 23.
  ///
  /// A function, not a table: with a constant index, as for short inputs, nothing is loaded from memory.
  @inlinable @inline(__always)
  static func secret(_ index: Int) -> UInt64 {
    switch index {
    case 0: 0xBE4B_A423_396C_FEB8
    case 1: 0x1CAD_21F7_2C81_017C
    case 2: 0xDB97_9083_E96D_D4DE
    case 3: 0x1F67_B3B7_A4A4_4072
    case 4: 0x78E5_C0CC_4EE6_79CB
    case 5: 0x2172_FFCC_7DD0_5A82
    case 6: 0x8E24_43F7_7446_08B8
    case 7: 0x4C26_3A81_E690_35E0
    case 8: 0xCB00_C391_BB52_283C
    case 9: 0xA32E_531B_8B65_D088
    case 10: 0x4EF9_0DA2_9748_6471
    case 11: 0xD8AC_DEA9_46EF_1938
    case 12: 0x3F34_9CE3_3F76_FAA8
    case 13: 0x1D4F_0BC7_C7BB_DCF9
    case 14: 0x3159_B4CD_4BE0_518A
    case 15: 0x6473_78D9_C97E_9FC8
    case 16: 0xC3EB_D334_83AC_C5EA
    case 17: 0xEB63_13FA_FFA0_81C5
    case 18: 0x49DA_F0B7_51DD_0D17
    case 19: 0x9E68_D429_2655_16D3
    case 20: 0xFCA1_477D_58BE_162B
    case 21: 0xCE31_D07A_D1B8_F88F
    case 22: 0x2804_1695_8F3A_CB45
    default: 0x7E40_4BBB_CAFB_D7AF
    }
  }

  /// The word that begins `skip` bytes after the beginning of word `index`.
  @inlinable @inline(__always)
  static func secret(_ index: Int, skip: UInt64) -> UInt64 {
    (secret(index) &>> (8 &* skip)) | (secret(index &+ 1) &<< (64 &- 8 &* skip))
  }
}
