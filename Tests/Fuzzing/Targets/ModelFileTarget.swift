import Foundation

@testable import Heartwood
@testable import HeartwoodModel

/// The file `contents` of a model of Xcode, read and written again.
enum ModelFileTarget {
  static func finding(_ bytes: [UInt8]) -> String? {
    do {
      let root = try MarkupElement(document: Data(bytes), file: "contents")
      var reader = XcodeModelReader(file: "contents")
      let document = try reader.document(of: root)
      let model = ManagedObjectModel(entities: document.entities.map { EntityDescription(name: $0.name) })
      try document.fill(model.entities)
      try model.checkExpressions()
      var writer = XcodeModelWriter()
      let text = try writer.text(of: ModelDocument(model, keepingModelFile: true))
      return rewritten(text)
    } catch {
      return error.message.isEmpty ? "an error without a message" : nil
    }
  }

  /// Checks that a valid model is read from what is written of it.
  private static func rewritten(_ text: String) -> String? {
    do {
      let root = try MarkupElement(document: Data(text.utf8), file: "contents")
      var reader = XcodeModelReader(file: "contents")
      _ = try reader.document(of: root)
      return nil
    } catch {
      return "a model that was read is written so that it is not read again: \(error.message)"
    }
  }

  static var seeds: [[UInt8]] {
    [
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="2">
        <entity name="Book" representedClassName="Book" syncable="YES" codeGenerationType="class" elementID="Tome">
          <attribute name="title" attributeType="String" defaultValueString="a &amp; b" minValueString="1" maxValueString="90" regularExpressionString="[a-z]+"/>
          <attribute name="pages" optional="YES" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES"/>
          <attribute name="day" attributeType="Date" defaultDateTimeInterval="12.5" usesScalarValueType="NO"/>
          <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="1.5"/>
          <attribute name="lower" optional="YES" attributeType="String" derived="YES" derivationExpression="lowercase:(title)"/>
          <attribute name="place" optional="YES" attributeType="Composite" compositeAttributeName="Place"/>
          <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="books" inverseEntity="Person"/>
          <fetchedProperty name="like"><fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="title == $FETCH_SOURCE.title"/></fetchedProperty>
          <fetchIndex name="byPages"><fetchIndexElement property="pages" type="Binary" order="descending"/></fetchIndex>
          <fetchIndex name="lower"><fetchIndexElement expression="lowercase:(title)" expressionType="String" type="Binary" order="ascending"/></fetchIndex>
          <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints>
          <userInfo><entry key="k" value="v"/></userInfo>
        </entity>
        <entity name="Person" isAbstract="YES"><relationship name="books" toMany="YES" ordered="YES" minCount="0" maxCount="5" deletionRule="Cascade" destinationEntity="Book" inverseName="author" inverseEntity="Book"/></entity>
        <entity name="Writer" parentEntity="Person"><attribute name="born" optional="YES" attributeType="Date"/></entity>
        <composite name="Place"><attribute name="x" attributeType="Double" defaultValueString="0.0"/></composite>
        <fetchRequest name="All" entity="Book" predicateString="pages &gt; $LEAST" fetchLimit="10"/>
        <configuration name="One"><memberEntity name="Book"/><memberEntity name="Person"/><memberEntity name="Writer"/></configuration>
        <elements><element name="Book" positionX="0" positionY="0" width="1" height="1"/></elements>
      </model>
      """
    ].map { [UInt8]($0.utf8) }
  }
}
