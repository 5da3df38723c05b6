/// The entities of a root entity's family with their layouts, found by the number that every row begins with.
///
/// It is never deallocated, like the models that it is made for: rows are validated by the million, and
/// counting references to their layouts would cost more than the validation.
@usableFromInline package struct RowFamily: Sendable {
  @usableFromInline struct Member: Sendable {
    @usableFromInline let number: UInt16
    @usableFromInline let entity: UnownedReference<EntityDescription>
    @usableFromInline let layout: UnownedReference<RowLayout>
    /// Nil for rows that are read in place.
    let conversion: UnownedReference<RowConversion>?
  }

  /// By number, ascending.
  @usableFromInline let members: PlainTable<Member>
  /// Whether all rows are read in place.
  package let isPlain: Bool

  init(_ members: [(entity: EntityDescription, layout: RowLayout)]) {
    self.members = Self.table(
      members.map { entity, layout in
        Member(
          number: layout.entityNumber, entity: .retaining(entity), layout: .retaining(layout),
          conversion: nil)
      })
    isPlain = true
  }

  /// The family as a store has it: with the numbers and the former layouts of its rows.
  ///
  /// The caller frees it with `deallocate()`.
  package init(stored: [(entity: EntityDescription, layout: RowLayout, conversion: RowConversion?)]) {
    members = Self.table(
      stored.map { entity, layout, conversion in
        Member(
          number: layout.entityNumber, entity: UnownedReference(entity), layout: .retaining(layout),
          conversion: conversion.map { .retaining($0) })
      })
    isPlain = false
  }

  private static func table(_ members: [Member]) -> PlainTable<Member> {
    PlainTable(members.sorted { $0.number < $1.number })
  }

  /// Frees a family that was made with `init(stored:)`.
  package func deallocate() {
    for index in 0..<members.count {
      members[index].layout.release()
      members[index].conversion?.release()
    }
    members.deallocate()
  }

  /// The layout of rows with this number, and their conversion to the model's layout if they need one.
  func stored(_ number: UInt16) -> (layout: RowLayout, conversion: RowConversion?)? {
    place(of: number).map {
      (members[$0].layout.object, members[$0].conversion?.object)
    }
  }

  package var entities: [EntityDescription] { (0..<members.count).map { members[$0].entity.object } }

  /// The layout of rows with this entity number; nil if the family has no such entity.
  @inlinable @inline(__always)
  func layout(_ number: UInt16) -> UnownedReference<RowLayout>? {
    place(of: number).map { members[$0].layout }
  }

  @inlinable @inline(__always)
  package func entity(_ number: UInt16) -> EntityDescription? {
    place(of: number).map { members[$0].entity.object }
  }

  @inlinable @inline(__always)
  func place(of number: UInt16) -> Int? {
    if members.count == 1 { return members[0].number == number ? 0 : nil }
    return searched(number)
  }

  @usableFromInline func searched(_ number: UInt16) -> Int? {
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < members.count && members[low].number == number ? low : nil
  }
}
