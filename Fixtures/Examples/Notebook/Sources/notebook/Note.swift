import Foundation
import Heartwood

final class Note: ManagedObject {
  @Attribute(.unique) var number: Int64 = 0
  @Attribute(.fullText) var text = ""
  @Attribute var written = Date.distantPast
  @Attribute(.indexed) var isDone = false
  @Relationship(inverse: { $0.notes }) var tags: Set<Tag>

  override func awakeFromInsert() {
    super.awakeFromInsert()
    written = Date()
  }
}

final class Tag: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.tags }) var notes: Set<Note>
}
